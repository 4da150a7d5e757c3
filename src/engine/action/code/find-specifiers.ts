/** Which files does a module name? Read from the JavaScript as Node runs it, where type imports are gone. */
import { parse } from 'es-module-lexer';

export interface NamedFile {
  readonly specifier: string;
  /** 'import': as ES modules resolve it. 'require': as CommonJS does. 'url': a file beside the module, which it may read. */
  readonly how: 'import' | 'require' | 'url';
  /** 'must': a static import, without which the module does not load. 'may': what stands in a call, or in a comment that looks like one. */
  readonly need: 'must' | 'may';
}

export interface NamedFiles {
  readonly files: readonly NamedFile[];
  /** 'computed': it may import what no literal in it names. 'unknown': it is no JavaScript. */
  readonly imports: 'named' | 'computed' | 'unknown';
}

/** What is no JavaScript names nothing: it may be data with such an ending. `init` of es-module-lexer must have ended. */
export function findSpecifiers(path: string, text: string): NamedFiles {
  const imports = findImports(path, text);
  if (imports === undefined) return { files: [], imports: 'unknown' };
  const files: NamedFile[] = [];
  let isComputed = MAKES_CODE.test(text);
  for (const found of imports) {
    if (found.type === 'import-meta') continue;
    const { type, specifier } = found;
    // What is written into a `data:` URL may import files too.
    if (specifier === undefined || (type === 'dynamic' && found.glob) || specifier.startsWith('data:')) isComputed = true;
    else if (type === 'dynamic' || !found.typeOnly) files.push({ specifier, how: 'import', need: type === 'dynamic' ? 'may' : 'must' });
  }
  return { files: [...files, ...findCalls(text)], imports: isComputed ? 'computed' : 'named' };
}

function findImports(path: string, text: string): ReturnType<typeof parse>[0] | undefined {
  try {
    return parse(text, path)[0];
  } catch {
    return undefined;
  }
}

/** What is made of text while the program runs may import anything. */
const MAKES_CODE = /\beval\s*\(|\bFunction\s*\(|['"](?:node:)?(?:vm|worker_threads)['"]/;

const LITERAL = String.raw`\(\s*(?:'([^'\n]+)'|"([^"\n]+)"|${'`'}([^${'`'}$\n]+)${'`'})`;

function findCalls(text: string): readonly NamedFile[] {
  const loaders = ['require', ...[...text.matchAll(/\b(\w+)\s*=\s*(?:\w+\s*\.\s*)?createRequire\s*\(/g)].map(match => match[1] ?? '')];
  const calls = String.raw`(?:\b(?:${[...new Set(loaders)].join('|')})|\bcreateRequire\s*\([^()]*\))`;
  return [
    ...matchLiterals(text, String.raw`${calls}(?:\s*\.\s*resolve)?\s*${LITERAL}`, 'require'),
    ...matchLiterals(text, String.raw`\bimport\s*\.\s*meta\s*\.\s*resolve\s*${LITERAL}`, 'import'),
    ...matchLiterals(text, String.raw`\bnew\s+URL\s*${LITERAL}\s*,\s*import\s*\.\s*meta\s*\.\s*url\s*\)`, 'url'),
  ];
}

function matchLiterals(text: string, pattern: string, how: NamedFile['how']): readonly NamedFile[] {
  return [...text.matchAll(new RegExp(pattern, 'g'))].map(match => ({
    specifier: match[1] ?? match[2] ?? match[3] ?? '',
    how,
    need: 'may',
  }));
}
