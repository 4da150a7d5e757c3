/** Links between views, which do not load the page again. */
import type { ComponentChildren } from 'preact';
import { go, hrefOf, type Query } from '../api/router.js';

interface LinkProps {
  readonly view: string;
  readonly query?: Query;
  readonly class?: string;
  readonly current?: boolean;
  readonly children: ComponentChildren;
}

export function Link({ view, query = {}, class: look, current, children }: LinkProps) {
  const follow = (event: MouseEvent): void => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(view, query);
  };
  return (
    <a href={hrefOf(view, query)} class={look} aria-current={current === true ? 'page' : undefined} onClick={follow}>
      {children}
    </a>
  );
}
