/** Opens the page of a project for a command, and prints its address. */
import { join, resolve } from 'node:path';
import { cacheFolderAt, makeCacheFolder } from '../../../engine/store/cache-folder.js';
import { openAccessToken } from '../../../web/access/access-token.js';
import { portsOf } from '../../../web/access/stable-port.js';
import { type OpenPage, openPage, type PageOptions } from '../../../web/open-page.js';
import { openSavedPage } from '../../../web/saved-page.js';
import type { PipelineOptions } from '../../pipeline/open-plan.js';
import { findInstallRoot } from '../../process/install-root.js';
import type { Console } from '../../terminal/console.js';
import { makePagePorts } from './page-ports.js';

export interface PageSettings {
  readonly access: 'full' | 'read-only';
  readonly token: 'keep' | 'rotate';
  /** undefined: the project's own port. */
  readonly port: number | undefined;
}

/** @throws system errors of listening and of the token's file. */
export async function servePage(options: PipelineOptions, { access, token, port }: PageSettings, console: Console): Promise<OpenPage> {
  const ports = makePagePorts(options, access);
  const cache = cacheFolderAt(join(ports.projectFolder, 'cache'));
  makeCacheFolder(cache);
  const opened = openAccessToken(cache.uiAccess, token);
  if (opened.origin === 'exposed') {
    const code = 'ui-token-exposed';
    console.problem('warning', `warning[${code}]: other users could read the token in ${cache.uiAccess}: it was replaced`);
  }
  const own = portsOf(ports.projectFolder, ports.pipeline);
  const page = await openPage({ ports, token: opened.token, tryPorts: port === undefined ? own : [port], ...placesOf(console) });
  console.line(`${options.file}: ${page.address()}`);
  if (port === undefined && page.port !== own[0])
    console.line(console.style('dim', `port ${own[0]} is in use, so the address is another one than usual`));
  return page;
}

/** @param path of a page that `report` wrote. @throws CodedError `ui-saved-page`; system errors of listening and reading. */
export async function serveSavedPage(path: string, port: number | undefined, console: Console): Promise<OpenPage> {
  const tryPorts = port === undefined ? portsOf(resolve(path), 'saved') : [port];
  const page = await openSavedPage(path, { tryPorts, ...placesOf(console) });
  console.line(`${path}: ${page.address()}`);
  return page;
}

function placesOf(console: Console): Pick<PageOptions, 'pageFolder' | 'onDefect'> {
  return {
    pageFolder: join(findInstallRoot(), 'page'),
    onDefect: error => console.problem('error', `error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`),
  };
}
