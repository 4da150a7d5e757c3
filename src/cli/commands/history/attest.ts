/** `tanren attest` and `tanren verify-attestation`: provenance of the current results, and its verification. */
import type { KeyObject } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CodedError } from '../../../base/coded-error.js';
import { encodeCanonicalJson } from '../../../base/json/canonical-json.js';
import { clipText } from '../../../base/text/clip-text.js';
import { countOf } from '../../../base/text/count-of.js';
import { sealEnvelope } from '../../../engine/insight/attest/dsse.js';
import { makeAttestations } from '../../../engine/insight/attest/make-attestations.js';
import { verifyAttestations } from '../../../engine/insight/attest/verify-attestations.js';
import { messageOf } from '../../../engine/model/engine-error.js';
import { cleanText } from '../../../report/html.js';
import { makeEnginePorts, neverAborted } from '../../pipeline/engine-ports.js';
import { cachesOf } from '../../pipeline/open-cache.js';
import { openPlan, type PipelineOptions, printDiagnostics } from '../../pipeline/open-plan.js';
import { readPrivateKey, readPublicKey } from '../../pipeline/remote/read-keys.js';
import { loadSettings } from '../../pipeline/remote/settings-file.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { VERSION } from '../../process/version.js';
import { writeFiles } from '../../process/write-files.js';
import { type Console, makeConsole } from '../../terminal/console.js';
import { endWithError } from '../../terminal/end-with-error.js';

export interface AttestCommandOptions extends PipelineOptions {
  readonly output: string;
  readonly sign?: string;
  readonly json: boolean;
}

export async function runAttest(targets: readonly string[], options: AttestCommandOptions): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  const opened = await openPlan(options, targets, console);
  if (opened === undefined) return EXIT.usage;
  try {
    const key = findOwnKey(options.sign, console);
    if (key === 'refused') return EXIT.usage;
    const { root: cacheFolder } = cachesOf(options);
    const order = { targets: opened.targets, cacheFolder, version: VERSION };
    const statements = await makeAttestations(
      opened.plan,
      order,
      makeEnginePorts(() => undefined, neverAborted),
    );
    const lines = statements.map(statement => {
      const payload = encodeCanonicalJson(statement);
      return key === undefined ? payload : encodeCanonicalJson(sealEnvelope(Buffer.from(payload), key));
    });
    await writeFiles([{ path: resolve(options.output), write: file => file.writeFile(`${lines.join('\n')}\n`) }]);
    const signed = key === undefined ? 'not signed' : 'signed';
    if (options.json) console.json({ path: options.output, statements: statements.length, signed: key !== undefined });
    else console.line(`${countOf(statements.length, 'statement')} in ${options.output}, ${signed}`);
    return EXIT.built;
  } catch (error) {
    return endWithError(error, console, options, EXIT.failed);
  }
}

/** The key of an option, of the environment, or of the settings: the one that signs results of a remote cache. */
function findOwnKey(option: string | undefined, console: Console): KeyObject | undefined | 'refused' {
  const named = option ?? (process.env.TANREN_REMOTE_SIGN === '' ? undefined : process.env.TANREN_REMOTE_SIGN);
  if (named !== undefined) return readPrivateKey(resolve(named));
  const settings = settingsOrPrint(console);
  if (settings === undefined) return 'refused';
  const { sign } = settings.settings.remote ?? {};
  return sign === undefined ? undefined : readPrivateKey(resolve(dirname(settings.path), sign));
}

function settingsOrPrint(console: Console) {
  const { file, diagnostics, sources } = loadSettings(process.env);
  if (file === undefined) printDiagnostics(diagnostics, sources, console);
  return file;
}

const MOST_SHOWN = 20;

const MOST_QUOTED = 1_000;

/** The code of every line that does not verify. */
const WRONG = 'attestation-wrong';

export interface VerifyAttestationOptions {
  readonly key: readonly string[];
  readonly folder: string;
  readonly json: boolean;
}

export async function runVerifyAttestation(path: string, options: VerifyAttestationOptions): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  try {
    const settings = options.key.length > 0 ? undefined : settingsOrPrint(console);
    if (options.key.length === 0 && settings === undefined) return EXIT.usage;
    const trusted = settings?.settings.remote?.trust?.map(one => readPublicKey(resolve(dirname(settings.path), one)));
    const keys = options.key.length > 0 ? options.key.map(one => readPublicKey(resolve(one))) : trusted;
    const { statements, problems } = await verifyAttestations(readText(path), { folder: resolve(options.folder), keys });
    if (options.json)
      console.json({
        statements,
        problems: problems.map(problem => ({ code: WRONG, ...problem })),
        signatures: keys === undefined ? 'not checked' : 'checked',
      });
    else {
      for (const { line, stage, message } of problems.slice(0, MOST_SHOWN))
        console.problem('error', `${path}:${line}: error[${WRONG}]: ${stage === undefined ? '' : `${quote(stage)}: `}${quote(message)}`);
      if (problems.length > MOST_SHOWN) console.problem('error', `and ${problems.length - MOST_SHOWN} more problems`);
      if (problems.length === 0) console.line(`${countOf(statements.length, 'statement')}: the files are what they state`);
      if (keys === undefined) console.line('signatures are not checked: name a public key with --key, or `trust` in the settings');
    }
    return problems.length === 0 ? EXIT.built : EXIT.failed;
  } catch (error) {
    return endWithError(error, console, options, EXIT.failed);
  }
}

/** Names of an untrusted file, which may be long and hold sequences that steer a terminal. */
function quote(text: string): string {
  return clipText(cleanText(text), MOST_QUOTED);
}

/** More than the attestations of a pipeline need. */
const MOST_BYTES = 256 << 20;
const PIECE_BYTES = 1 << 20;

/** A pipe may be read too. */
function readText(path: string): string {
  try {
    const pieces: Buffer[] = [];
    const file = openSync(path, 'r');
    try {
      for (let total = 0; total <= MOST_BYTES; ) {
        const piece = Buffer.allocUnsafe(PIECE_BYTES);
        const bytes = readSync(file, piece);
        if (bytes === 0) return Buffer.concat(pieces).toString();
        pieces.push(piece.subarray(0, bytes));
        total += bytes;
      }
    } finally {
      closeSync(file);
    }
    throw new Error(`it has more than ${MOST_BYTES} bytes`);
  } catch (error) {
    throw new CodedError('attestation-unreadable', `${path} cannot be read: ${messageOf(error)}`, {
      help: 'name the file that "tanren attest" wrote',
    });
  }
}
