/** What the server of the page does while no page is open. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { type OpenPage, openPage } from '../../../src/web/open-page.js';
import type { ProjectPorts } from '../../../src/web/project/project-ports.js';
import { pageAt } from '../../support/page-client.js';

describe('the server of the page', () => {
  let folder: string;
  let page: OpenPage;
  let watches: 'files' | 'nothing';
  let kept: 'next' | 'none';
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'setInterval', 'queueMicrotask', 'performance', 'Date'] });
    folder = mkdtempSync(join(tmpdir(), 'tanren-page-'));
    writeFileSync(join(folder, 'index.html'), '');
    watches = 'nothing';
    kept = 'none';
  });
  afterEach(async () => {
    await page.close();
    expect([watches, kept]).toEqual(['nothing', 'none']);
    jest.useRealTimers();
    rmSync(folder, { recursive: true });
  });

  const open = () => {
    const ports = {
      projectFolder: folder,
      pipeline: 'pipeline',
      file: { path: join(folder, 'pipeline.yaml'), name: 'pipeline.yaml' },
      access: 'all',
      engine: { installRoot: folder },
      load: async () => ({ plan: undefined, diagnostics: [], reads: [] }),
      watch: () => {
        watches = 'files';
        const close = (): void => {
          watches = 'nothing';
        };
        return { watch: () => 'same', close };
      },
      keepReady: (what: typeof kept) => {
        kept = what;
      },
    } as unknown as ProjectPorts;
    const token = { current: () => 'token', admits: () => true } as unknown as Parameters<typeof openPage>[0]['token'];
    return openPage({ ports, token, tryPorts: [0], pageFolder: folder, onDefect: () => undefined });
  };

  it('watches files for a minute until the first page comes, and no longer', async () => {
    page = await open();
    jest.advanceTimersByTime(59_000);
    expect(watches).toBe('files');
    jest.advanceTimersByTime(2_000);
    expect(watches).toBe('nothing');
  });

  it('goes on while a page is open', async () => {
    page = await open();
    const events = pageAt(page.port, 'token').follow();
    await events.next('hello');
    jest.advanceTimersByTime(600_000);
    expect([watches, kept]).toEqual(['files', 'next']);
    events.close();
  });
});
