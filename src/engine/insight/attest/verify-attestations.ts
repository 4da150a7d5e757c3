/** Verification of attestations: signatures, action keys, the files that they are about, and that one stage read what another wrote. */
import type { KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { digestJson } from '../../../base/digest.js';
import { findUnbounded } from '../../../base/json/json-bounds.js';
import { formatJsonProblems, readJsonShape } from '../../../base/json/json-shape.js';
import { isJsonObject, type Json, parseJson } from '../../../base/json.js';
import { readerOf } from '../../../base/schema/schema-reader.js';
import { isSystemCallError } from '../../../base/system-error.js';
import { messageOf } from '../../model/engine-error.js';
import { digestPath } from '../../store/files/digest-file.js';
import { statLink } from '../../store/files/stamp.js';
import { isInnerPath, type TreeEntry, treeArtifact, walkFolder } from '../../store/files/tree.js';
import { ENVELOPE, type Envelope, findSigner, keyIdOf, PAYLOAD_TYPE, payloadOf } from './dsse.js';
import { contentOf, dependenciesIn, type Resource, STATEMENT, type Statement } from './statement.js';

export interface AttestationProblem {
  /** From 1. */
  readonly line: number;
  /** Undefined if the line is not readable. */
  readonly stage: string | undefined;
  readonly message: string;
}

export interface VerifiedAttestation {
  readonly stage: string;
  readonly key: string;
  readonly subjects: readonly string[];
  /** Ids of the keys whose signature was checked. */
  readonly signedBy: string | undefined;
}

export interface Verification {
  readonly statements: readonly VerifiedAttestation[];
  readonly problems: readonly AttestationProblem[];
}

export interface VerifyOptions {
  /** The folder that the names of subjects are relative to. */
  readonly folder: string;
  /** Public keys; undefined: signatures are not checked. */
  readonly keys: readonly KeyObject[] | undefined;
}

/** More than the statements of a pipeline need. */
const MOST_LINES = 10_000;
const MOST_LINE_CHARACTERS = 64 << 20;
/** More than the params of a stage need. */
const MOST_LEVELS = 100;

const [readEnvelope, readStatement] = [readerOf(ENVELOPE), readerOf(STATEMENT)];

interface Line {
  readonly line: number;
  readonly statement: Statement;
  readonly signedBy: string | undefined;
}

/** @param text one statement or envelope per line. */
export async function verifyAttestations(text: string, { folder, keys }: VerifyOptions): Promise<Verification> {
  const problems: AttestationProblem[] = [];
  const lines: Line[] = [];
  const all = text.split('\n').flatMap((line, index) => (line.trim() === '' ? [] : [[index + 1, line] as const]));
  if (all.length === 0) problems.push({ line: 1, stage: undefined, message: 'it holds no attestation' });
  if (all.length > MOST_LINES)
    problems.push({ line: MOST_LINES + 1, stage: undefined, message: `it has more than ${MOST_LINES} attestations` });
  for (const [line, content] of all.slice(0, MOST_LINES)) {
    const read = readLine(content, keys);
    if (typeof read === 'string') problems.push({ line, stage: undefined, message: read });
    else lines.push({ line, ...read });
  }
  const outputs = outputsOf(lines);
  for (const { line, statement } of lines) {
    const note = (message: string): void => void problems.push({ line, stage: stageOf(statement), message });
    checkAction(statement, note);
    checkChain(statement, outputs, note);
    for (const subject of statement.subject)
      await checkSubject(subject, folder, note).catch((error: unknown) => {
        if (!isSystemCallError(error)) throw error;
        note(`${subject.name} cannot be read: ${messageOf(error)}`);
      });
  }
  const statements = lines.map(({ statement, signedBy }) => ({
    stage: stageOf(statement),
    key: statement.predicate.runDetails.metadata.invocationId,
    subjects: statement.subject.map(({ name }) => name),
    signedBy,
  }));
  return { statements, problems };
}

function stageOf({ predicate }: Statement): string {
  return predicate.buildDefinition.externalParameters.stage;
}

/** @returns the problem of a line that cannot be used. */
function readLine(content: string, keys: readonly KeyObject[] | undefined): Omit<Line, 'line'> | string {
  if (content.length > MOST_LINE_CHARACTERS) return `it has more than ${MOST_LINE_CHARACTERS} characters`;
  const value = parseJson(content);
  if (!isJsonObject(value)) return 'it is not a JSON object';
  const unbounded = findUnbounded(value, MOST_LEVELS);
  if (unbounded !== undefined) return unbounded;
  if (!('payload' in value)) {
    if (keys !== undefined) return 'it is not signed';
    return withStatement(value, undefined);
  }
  const envelope = readJsonShape(readEnvelope, value);
  if (envelope.kind === 'problems') return `it is not an envelope: ${formatJsonProblems(envelope.problems).join('; ')}`;
  if (envelope.value.payloadType !== PAYLOAD_TYPE)
    return `its payload is of the type "${envelope.value.payloadType}", expected "${PAYLOAD_TYPE}"`;
  return openEnvelope(envelope.value, keys);
}

function openEnvelope(envelope: Envelope, keys: readonly KeyObject[] | undefined): Omit<Line, 'line'> | string {
  const signer = keys === undefined ? undefined : findSigner(envelope, keys);
  if (keys !== undefined && signer === undefined) return 'no key that you trust has signed it';
  const payload = parseJson(payloadOf(envelope).toString());
  if (payload === undefined) return 'its payload is not JSON';
  const unbounded = findUnbounded(payload, MOST_LEVELS);
  return unbounded === undefined ? withStatement(payload, signer === undefined ? undefined : keyIdOf(signer)) : `its payload: ${unbounded}`;
}

function withStatement(value: Json, signedBy: string | undefined): Omit<Line, 'line'> | string {
  const read = readJsonShape(readStatement, value);
  if (read.kind === 'ok') return { statement: read.value, signedBy };
  return `it is not a statement of SLSA provenance by Tanren: ${formatJsonProblems(read.problems).slice(0, 3).join('; ')}`;
}

type Note = (message: string) => void;

/** The key is the digest of the manifest, and what the statement says elsewhere follows from it. */
function checkAction({ predicate: { buildDefinition, runDetails } }: Statement, note: Note): void {
  const { externalParameters, internalParameters, resolvedDependencies } = buildDefinition;
  const { manifest } = internalParameters;
  const { invocationId } = runDetails.metadata;
  const key = digestJson(manifest);
  if (key !== invocationId) note(`its action key is ${invocationId}, but its manifest has the digest ${key}`);
  if (externalParameters.plugin !== manifest.plugin || !isDeepStrictEqual(externalParameters.params, manifest.params))
    note('its parameters are not those of its manifest');
  const stated = resolvedDependencies.map(({ name, digest }) => ({ name, digest: { ...digest } }));
  const expected = dependenciesIn(manifest).map(({ name, digest }) => ({ name, digest: { ...digest } }));
  if (!isDeepStrictEqual(stated, expected)) note('its dependencies are not those of its manifest');
}

/** Digests of the outputs of a stage, of all lines that are about it, by `placeOf`. */
type Outputs = ReadonlyMap<string, ReadonlySet<string>>;

function outputsOf(lines: readonly Line[]): Outputs {
  const outputs = new Map<string, Set<string>>();
  for (const { statement } of lines) {
    const place = placeOf(statement, stageOf(statement));
    const digests = outputs.get(place) ?? new Set();
    for (const digest of statement.subject.flatMap(subject => contentOf(subject)?.digest ?? [])) digests.add(digest);
    outputs.set(place, digests);
  }
  return outputs;
}

/** A stage of the pipeline of the statement: pipelines in one file may have stages of equal names. */
function placeOf({ predicate }: Statement, stage: string): string {
  return JSON.stringify([predicate.buildDefinition.externalParameters.pipeline, stage]);
}

function checkChain(statement: Statement, outputs: Outputs, note: Note): void {
  const { predicate } = statement;
  for (const dependency of predicate.buildDefinition.resolvedDependencies) {
    const from = dependency.annotations?.artifact;
    if (typeof from !== 'string') continue;
    const producer = from.slice(0, from.lastIndexOf('.'));
    const digest = contentOf(dependency)?.digest;
    const made = outputs.get(placeOf(statement, producer));
    if (made === undefined) note(`its ${dependency.name} comes from ${from}, and ${producer} has no attestation here`);
    else if (digest === undefined || !made.has(digest)) note(`its ${dependency.name} is not what ${producer} made`);
  }
}

async function checkSubject(subject: Resource, folder: string, note: Note): Promise<void> {
  const content = contentOf(subject);
  const name = subject.name.replace(/\/$/, '');
  if (content === undefined) return note(`${subject.name} has no digest that is known here`);
  if (!isInnerPath(name) || name.includes('\0')) return note(`${JSON.stringify(subject.name)} is not a path inside the folder`);
  const path = join(folder, name);
  const stat = statLink(path);
  if (stat === undefined) return note(`${subject.name} is missing`);
  if (stat.kind !== (content.kind === 'file' ? 'file' : 'folder')) return note(`${subject.name} is a ${stat.kind}`);
  const found = content.kind === 'file' ? await digestPath(path, stat.sizeBytes) : await digestFolder(path);
  if (found !== content.digest) note(`${subject.name} has the digest ${found}, expected ${content.digest}`);
}

async function digestFolder(path: string): Promise<string> {
  const entries: TreeEntry[] = [];
  for (const entry of walkFolder(path, 'keep')) {
    if (entry.kind !== 'file') entries.push(entry);
    else {
      const { sizeBytes, executable } = entry.stat;
      entries.push({ kind: 'file', path: entry.path, digest: await digestPath(join(path, entry.path), sizeBytes), sizeBytes, executable });
    }
  }
  return treeArtifact(entries).digest;
}
