/** The layering as docs/architecture.md states it: the arrows between folders, and the tables of folders inside a layer. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** "src/quant" or "stages" → the folders that it imports, in the order of the page. */
export type Arrows = ReadonlyMap<string, readonly string[]>;

/** "src/quant/" → its folders, in the order of the table. */
export type FolderTables = ReadonlyMap<string, readonly string[]>;

export function readArchitecture(project: string): string {
  return readFileSync(join(project, 'docs/architecture.md'), 'utf8');
}

/** Reads the lines `a ─► b, c` of the page; a line that begins with spaces continues the line before it. */
export function readArrows(page: string): Arrows {
  const block = /```\n([^`]*─►[^`]*)```/.exec(page)?.[1] ?? '';
  const lines = block
    .replace(/\n {2,}/g, ' ')
    .trim()
    .split('\n');
  return new Map(
    lines.map(line => {
      const [from = '', to = ''] = line.split('─►').map(side => side.trim());
      return [from, to === 'nothing' ? [] : to.split(/,\s*/)];
    }),
  );
}

/** Reads the first column of the table below each heading that names a layer. */
export function readFolderTables(page: string): FolderTables {
  const sections = page.split(/^## /m).filter(section => /^`src\/\w+`\n/.test(section));
  return new Map(
    sections.map(section => {
      const layer = `${/^`([^`]+)`/.exec(section)?.[1]}/`;
      const cells = [...section.matchAll(/^\| (`[^|]*) \|/gm)].map(([, cell = '']) => cell);
      return [layer, cells.flatMap(cell => [...cell.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name))];
    }),
  );
}
