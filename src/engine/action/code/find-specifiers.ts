/** The files that a module refers to, found in the JavaScript that Node runs. Type imports are already removed there. */
import { parse } from 'es-module-lexer';

export interface NamedFile {
  readonly specifier: string;
  /** 'import': resolved as by ES modules. 'require': resolved as by CommonJS. 'url': a file beside the module, which the module may read. */
  readonly how: 'import' | 'require' | 'url';
  /** 'must': a static import, without which the module does not load. 'may': found in a call, or in a comment that looks like one. */
  readonly need: 'must' | 'may';
}

export interface NamedFiles {
  readonly files: readonly NamedFile[];
  /** 'computed': the module may import files that no literal in it names. 'unknown': the file is not JavaScript. */
  readonly imports: 'named' | 'computed' | 'unknown';
}

/** A file that is not JavaScript refers to nothing: it may be data with such an extension. `init` of es-module-lexer must have resolved. */
export function findSpecifiers(path: string, text: string): NamedFiles {
  const imports = findImports(path, text);
  if (imports === undefined) return { files: [], imports: 'unknown' };
  const files: NamedFile[] = [];
  let isComputed = MAKES_CODE.test(text);
  for (const found of imports) {
    if (found.type === 'import-meta') continue;
    const { type, specifier } = found;
    // Code inside a `data:` URL may import files too.
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

/** Code that is created from text at run time may import anything. */
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
