/** A project that an earlier Tanren built, with its cache, artifacts, lock files and baseline: see test/fixtures/formats-0.1. */
import { execFileSync } from 'node:child_process';
import { type CliWorld, givenProject } from './cli-world.js';
import { fixturePath } from './fixtures.js';

export const OLD_ARCHIVE = fixturePath('formats-0.1', 'archive.tanren');
export const OLD_REPORT = fixturePath('formats-0.1', 'build-report.json');

/** What its stages were built with. */
const ENVIRONMENT = { TOKEN: 'hush-hush', MODE: 'fair' };

/** The project in a folder of its own. Files have other inodes and times than when it was built, and the folder is another. */
export function givenOldProject(): CliWorld {
  const world = givenProject({}, ENVIRONMENT);
  execFileSync('tar', ['-xzf', fixturePath('formats-0.1', 'project.tar.gz'), '--strip-components=1', '-C', world.folder]);
  return world;
}
