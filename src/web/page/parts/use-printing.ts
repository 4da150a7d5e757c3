/** Whether the page is being printed: paper cannot scroll. */
import { options } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const [begin, end] = [() => drawNow(() => setPrinting(true)), () => setPrinting(false)];
    addEventListener('beforeprint', begin);
    addEventListener('afterprint', end);
    return () => {
      removeEventListener('beforeprint', begin);
      removeEventListener('afterprint', end);
    };
  }, []);
  return isPrinting;
}

/** The browser takes the document as it is when the listeners return. */
function drawNow(change: () => void): void {
  const before = options.debounceRendering;
  options.debounceRendering = draw => draw();
  try {
    change();
  } finally {
    if (before === undefined) delete options.debounceRendering;
    else options.debounceRendering = before;
  }
}
