/** The page of a project, served by `tanren ui` and opened in a browser, for all tests of a suite. */
import type { Browser } from 'playwright-core';
import { getDefined } from '../../src/base/invariant.js';
import { openBrowser } from './browser.js';
import { findPage, type PageServer } from './page-client.js';
import { type OpenedPage, openFileInBrowser, openInBrowser } from './page-driver.js';
import { startTanren } from './start-tanren.js';

export interface GivenPage<Project> {
  /** Opens the page; the end of the test closes it. */
  open(options?: Parameters<typeof openInBrowser>[2]): Promise<OpenedPage>;
  /** Opens the page of another server, or a page in a file. */
  openAt(place: PageServer | string, options?: Parameters<typeof openInBrowser>[2]): Promise<OpenedPage>;
  server(): PageServer;
  project(): Project;
}

interface PagedProject {
  readonly folder: string;
  remove(): void;
}

/** A whole pipeline is built first, on a machine that may do other things too. */
const LONGEST_MS = 400_000;

/**
 * To be called in a suite, before its tests. `prepare` gives the project, which the end of the suite removes.
 * @param browserPath as `describeInBrowser` gives it. @param pipeline the pipeline file; default: that of the folder.
 */
export function givenPage<Project extends PagedProject>(
  browserPath: string,
  prepare: () => Project | Promise<Project>,
  pipeline?: string,
): GivenPage<Project> {
  let project: Project | undefined;
  let browser: Browser | undefined;
  let started: ReturnType<typeof startTanren> | undefined;
  let server: PageServer | undefined;
  let opened: readonly OpenedPage[] = [];
  beforeAll(async () => {
    project = await prepare();
    started = startTanren(project.folder, 'ui', ...(pipeline === undefined ? [] : [pipeline]), '--port', '0');
    server = await findPage(started);
    browser = await openBrowser(browserPath);
  }, LONGEST_MS);
  afterAll(async () => {
    await browser?.close();
    started?.kill();
    project?.remove();
  });
  afterEach(async () => {
    for (const page of opened) await page.close();
    opened = [];
  });
  const openAt: GivenPage<Project>['openAt'] = async (place, options) => {
    const own = getDefined(browser, 'browser');
    const page = await (typeof place === 'string' ? openFileInBrowser(own, place, options) : openInBrowser(own, place, options));
    opened = [...opened, page];
    return page;
  };
  return {
    open: options => openAt(getDefined(server, 'server'), options),
    openAt,
    server: () => getDefined(server, 'server'),
    project: () => getDefined(project, 'project'),
  };
}
