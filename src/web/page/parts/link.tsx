/** Links between views, which do not load the page again. */
import type { ComponentChildren } from 'preact';
import { access, LIVE_VIEWS } from '../api/access.js';
import { go, hrefOf, type Query } from '../api/router.js';
import { isStatic } from '../api/saved.js';
import { useStore } from '../api/store.js';

interface LinkProps {
  readonly view: string;
  readonly query?: Query;
  readonly class?: string;
  readonly current?: boolean;
  /** After it is followed, also to the present address. */
  readonly then?: () => void;
  readonly children: ComponentChildren;
}

/** On a narrow screen, the row of links scrolls. The page itself stays where it is. */
function showInRow(link: HTMLAnchorElement | null): void {
  const row = link?.parentElement;
  if (link === null || row === null || row === undefined) return;
  const [own, all] = [link.getBoundingClientRect(), row.getBoundingClientRect()];
  if (own.left < all.left || own.right > all.right) row.scrollLeft += own.left - all.left - (all.width - own.width) / 2;
}

/** Nothing where the view needs a project and the page is a saved one. Without a script, there are no other views: the text alone. */
export function Link({ view, query = {}, class: look, current, then, children }: LinkProps) {
  const isSaved = useStore(access) === 'saved';
  if (isSaved && LIVE_VIEWS.has(view)) return null;
  if (isStatic) return <span class={look}>{children}</span>;
  const follow = (event: MouseEvent): void => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(view, query);
    then?.();
  };
  return (
    <a
      ref={current === true ? showInRow : null}
      href={hrefOf(view, query)}
      class={look}
      aria-current={current === true ? 'page' : undefined}
      onClick={follow}
    >
      {children}
    </a>
  );
}
