/** A region that scrolls where its content is wider, with the keyboard too. */
import type { ComponentChildren } from 'preact';

interface ScrollProps {
  /** What is in it, for screen readers. */
  readonly label: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function Scroll({ label, class: look = '', children }: ScrollProps) {
  return (
    <div class={`scroll ${look}`} tabIndex={0} role="region" aria-label={label}>
      {children}
    </div>
  );
}
