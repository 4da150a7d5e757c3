/** A browser for tests of pages: Chromium where it is installed; a suite without one is skipped, and says so. */
import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Path of the browser: TANREN_CHROMIUM, or a usual place; undefined where there is none. */
export function findBrowser(): string | undefined {
  return [process.env.TANREN_CHROMIUM, ...PLACES].find(path => path !== undefined && existsSync(path));
}

export function openBrowser(path: string): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--no-first-run'];
  return chromium.launch({ executablePath: path, args });
}

/** `describe` where there is a browser; else a skipped suite, and a line that nobody overlooks. */
export function describeInBrowser(what: string, tests: (path: string) => void): void {
  const path = findBrowser();
  if (path === undefined) {
    process.stderr.write(
      `\nSKIPPED: ${what} in a browser: no Chromium found. Install one (apt-get install chromium), or name it in TANREN_CHROMIUM.\n\n`,
    );
    describe.skip(`${what} (no Chromium found)`, () => it('needs a browser', () => undefined));
    return;
  }
  describe(what, () => tests(path));
}
