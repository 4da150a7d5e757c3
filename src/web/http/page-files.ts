/** The files of the page, read once: a request can name only a file that is in the list, so no path leaves the folder. */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Answer } from './answer.js';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export interface PageFiles {
  /** The answer for a path; a path without a dot is a view of the page. undefined: there is no such file. */
  find(path: string): Answer | undefined;
}

/** @throws file system errors if the page was not built. */
export function openPageFiles(folder: string): PageFiles {
  const names = new Set(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && TYPES[extname(entry.name)] !== undefined)
      .map(
        entry =>
          `/${join(entry.parentPath, entry.name)
            .slice(folder.length + 1)
            .split(sep)
            .join('/')}`,
      ),
  );
  const loaded = new Map<string, Answer>();
  return {
    find(path) {
      const name = /^\/[\w-]*$/.test(path) ? '/index.html' : path;
      if (!names.has(name)) return undefined;
      const known = loaded.get(name);
      if (known !== undefined) return known;
      const answer = load(folder, name);
      loaded.set(name, answer);
      return answer;
    },
  };
}

/** Names of assets hold a digest of their content. */
function load(folder: string, name: string): Answer {
  const body = readFileSync(join(folder, name));
  const headers = {
    'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
    'cache-control': name.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
  };
  return { status: 200, headers, body, gzipped: gzipSync(body, { level: 9 }) };
}
