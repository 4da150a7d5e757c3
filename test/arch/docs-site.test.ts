/** The documentation site lists every page of the documentation once, and no page that does not exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const sections = JSON.parse(readFileSync('docs/.vitepress/pages.json', 'utf8')) as readonly { readonly pages: readonly string[] }[];
const listed = sections.flatMap(({ pages }) => pages);
const listedFiles = listed.flatMap(page => (page.endsWith('/') ? pagesIn(page) : [`${page}.md`]));

it('lists every page of docs once', () => {
  const docs = ['docs/', 'docs/stages/', 'docs/decisions/'].flatMap(pagesIn);
  expect(listedFiles.filter(file => file.startsWith('docs/')).sort()).toEqual(docs.sort());
});

it('lists pages that exist', () => {
  expect(listedFiles.filter(file => !existsSync(file))).toEqual([]);
});

function pagesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter(name => name.endsWith('.md'))
    .map(name => `${folder}${name}`);
}
