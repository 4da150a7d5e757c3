/** Switches between the system's color scheme, light and dark. */
import { useEffect, useState } from 'preact/hooks';
import { keep } from './keep.js';

const SCHEMES = ['auto', 'light', 'dark'] as const;

type Scheme = (typeof SCHEMES)[number];

const KEY = 'tanren-scheme';

function stored(): Scheme {
  return SCHEMES.find(scheme => scheme === keep(() => localStorage.getItem(KEY))) ?? 'auto';
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
