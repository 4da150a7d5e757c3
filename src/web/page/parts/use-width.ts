/** The width of an element, followed while it changes. */
import { useEffect, useState } from 'preact/hooks';

/** @param first the width until the element is there. @returns `place`, for the `ref` of the element. */
export function useWidth(first: number) {
  const [element, place] = useState<HTMLElement | null>(null);
  const [width, setWidth] = useState(first);
  useEffect(() => {
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, [element]);
  return { place, width };
}
