/** Configuration of the documentation site: the Markdown pages of the repository, with search in the browser. `npm run docs` builds it. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { type DefaultTheme, defineConfig } from 'vitepress';

const PROJECT = join(import.meta.dirname, '../..');

/** The pages in reading order: paths without `.md`, or folders, which stand for all pages in them. */
const SECTIONS: readonly { readonly text: string; readonly pages: readonly string[]; readonly collapsed?: boolean }[] = JSON.parse(
  readFileSync(join(import.meta.dirname, 'pages.json'), 'utf8'),
);

/** Files that a page links to and that are no pages, such as pipelines. They are copied into the site. */
const linked = new Set<string>();

export default defineConfig({
  title: 'Tanren',
  description: 'A build system that takes a trained CNN detector to a verified, NPU-ready int8 deployment',
  // No icon: browsers otherwise ask for /favicon.ico.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  srcDir: '../',
  srcExclude: ['{artifacts,cache,node_modules,dist,test,bench,src,stages,scripts}/**', 'docs/.vitepress/**'],
  outDir: './.vitepress/dist',
  rewrites: { 'README.md': 'index.md' },
  cleanUrls: false,
  lastUpdated: false,
  themeConfig: {
    nav: [
      { text: 'Your own model', link: '/docs/your-own-model' },
      { text: 'Stages', link: '/docs/stages/bench' },
      { text: 'Command line', link: '/docs/cli' },
    ],
    sidebar: SECTIONS.map(({ text, pages, collapsed = false }) => ({ text, collapsed, items: pages.flatMap(listPages) })),
    outline: [2, 3],
    search: { provider: 'local' },
    docFooter: { prev: 'Previous', next: 'Next' },
  },
  markdown: {
    config(markdown) {
      markdown.core.ruler.push('links-to-files', state => {
        const page: string = state.env.relativePath === 'index.md' ? 'README.md' : state.env.relativePath;
        for (const { children } of state.tokens) {
          for (const token of children ?? []) {
            const href = token.type === 'link_open' ? token.attrGet('href') : null;
            if (href !== null) token.attrSet('href', siteLinkOf(page, href));
          }
        }
      });
    },
  },
  buildEnd({ outDir }) {
    for (const path of linked) {
      const copy = join(outDir, copyOf(path));
      mkdirSync(dirname(copy), { recursive: true });
      copyFileSync(join(PROJECT, path), copy);
    }
  },
});

/** Pages by their path; a folder stands for its pages. */
function listPages(page: string): DefaultTheme.SidebarItem[] {
  if (page === 'README') return [{ text: 'Tanren', link: '/' }];
  if (!page.endsWith('/')) return [{ text: titleOf(`${page}.md`), link: `/${page}` }];
  const names = readdirSync(join(PROJECT, page)).filter(name => name.endsWith('.md'));
  return names.sort().map(name => ({ text: titleOf(`${page}${name}`), link: `/${page}${name.slice(0, -'.md'.length)}` }));
}

/** The first heading of the page, without code marks. A missing page fails the build. */
function titleOf(path: string): string {
  const heading = /^# (.+)$/m.exec(readFileSync(join(PROJECT, path), 'utf8'))?.[1] ?? path;
  return heading.replaceAll('`', '');
}

/** A name without extension would be taken for a page. */
function copyOf(path: string): string {
  return `files/${path}${posix.extname(path) === '' ? '.txt' : ''}`;
}

/** Links are relative to the repository in the Markdown. Folders lead to their first page; files that are no pages lead to their copies. */
function siteLinkOf(page: string, href: string): string {
  if (/^(?:[a-z]+:|#|\/)/.test(href)) return href;
  const [target = '', anchor] = href.split('#');
  const path = posix.normalize(posix.join(posix.dirname(page), target)).replace(/\/$/, '');
  const suffix = anchor === undefined ? '' : `#${anchor}`;
  if (path === 'README.md') return `/${suffix}`;
  if (path.endsWith('.md')) return `/${path}${suffix}`;
  const file = join(PROJECT, path);
  if (!existsSync(file)) return href;
  if (statSync(file).isFile()) {
    linked.add(path);
    return `/${copyOf(path)}${suffix}`;
  }
  const [first] = readdirSync(file).filter(name => name.endsWith('.md')).sort();
  return first === undefined ? '/' : `/${path}/${first}${suffix}`;
}
