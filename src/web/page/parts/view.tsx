/** A view of the page: its heading, the tools beside it, and its content. */
import type { ComponentChildren } from 'preact';

interface ViewFrame {
  readonly title: string;
  readonly tools: ComponentChildren;
  readonly children: ComponentChildren;
}

export function View({ title, tools, children }: ViewFrame) {
  return (
    <div class="view">
      <div class="tools">
        <h1>{title}</h1>
        {tools}
      </div>
      {children}
    </div>
  );
}
