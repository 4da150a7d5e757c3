/** Switches between the system's color scheme, light and dark. */
import { useEffect, useState } from 'preact/hooks';

const SCHEMES = ['auto', 'light', 'dark'] as const;

type Scheme = (typeof SCHEMES)[number];

const KEY = 'tanren-scheme';

function stored(): Scheme {
  return SCHEMES.find(scheme => scheme === keep(() => localStorage.getItem(KEY))) ?? 'auto';
}

/** A page in a file may have no storage. */
function keep<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch (error) {
    if (error instanceof DOMException) return undefined;
    throw error;
  }
}

export function SchemeButton() {
  const [scheme, setScheme] = useState<Scheme>(stored);
  useEffect(() => {
    if (scheme === 'auto') delete document.documentElement.dataset.scheme;
    else document.documentElement.dataset.scheme = scheme;
    keep(() => localStorage.setItem(KEY, scheme));
  }, [scheme]);
  const next = SCHEMES[(SCHEMES.indexOf(scheme) + 1) % SCHEMES.length] ?? 'auto';
  return (
    <button
      type="button"
      class="quiet"
      onClick={() => setScheme(next)}
      title={`Colors: ${scheme}. Click for ${next}.`}
      aria-label={`Colors: ${scheme}. Switch to ${next}`}
    >
      {scheme === 'auto' ? '◐' : scheme === 'light' ? '○' : '●'}
    </button>
  );
}
