/**
 * The messages of the Remote Execution API v2 that a client of caches and workers uses: names, numbers and types of their fields.
 * Source: build/bazel/remote/execution/v2/remote_execution.proto, google/rpc, google/bytestream and google/longrunning; see NOTICE.
 */
import { bool, bytes, int, list, many, message, type Of, one, text } from './codec.js';

/** The identity of a blob: both must be equal. */
export const DIGEST = message({ hash: text(1), sizeBytes: int(2) });
export type WireDigest = Of<typeof DIGEST>;

const PROPERTY = message({ name: text(1), value: text(2) });
const PLATFORM = message({ properties: many(1, PROPERTY) });
const DURATION = message({ seconds: int(1), nanos: int(2) });

export const COMMAND = message({
  arguments: list(1, 'string'),
  environmentVariables: many(2, PROPERTY),
  outputFiles: list(3, 'string'),
  outputDirectories: list(4, 'string'),
  platform: one(5, PLATFORM),
  workingDirectory: text(6),
  outputPaths: list(7, 'string'),
});

export const ACTION = message({
  commandDigest: one(1, DIGEST),
  inputRootDigest: one(2, DIGEST),
  timeout: one(6, DURATION),
  doNotCache: bool(7),
  salt: bytes(9),
  platform: one(10, PLATFORM),
});

const FILE_NODE = message({ name: text(1), digest: one(2, DIGEST), isExecutable: bool(4) });
const DIRECTORY_NODE = message({ name: text(1), digest: one(2, DIGEST) });
const SYMLINK_NODE = message({ name: text(1), target: text(2) });

/** The entries of one folder, each list sorted by name as UTF-8 bytes. */
export const DIRECTORY = message({ files: many(1, FILE_NODE), directories: many(2, DIRECTORY_NODE), symlinks: many(3, SYMLINK_NODE) });
export type Directory = Of<typeof DIRECTORY>;

/** A folder with all folders below it, which refer to each other by digest. */
export const TREE = message({ root: one(1, DIRECTORY), children: many(2, DIRECTORY) });
export type Tree = Of<typeof TREE>;

const OUTPUT_FILE = message({ path: text(1), digest: one(2, DIGEST), isExecutable: bool(4), contents: bytes(5) });
export type OutputFile = Of<typeof OUTPUT_FILE>;

const OUTPUT_DIRECTORY = message({ path: text(1), treeDigest: one(3, DIGEST), rootDirectoryDigest: one(5, DIGEST) });
const OUTPUT_SYMLINK = message({ path: text(1), target: text(2) });
const EXECUTION_METADATA = message({ worker: text(1) });

export const ACTION_RESULT = message({
  outputFiles: many(2, OUTPUT_FILE),
  outputDirectories: many(3, OUTPUT_DIRECTORY),
  exitCode: int(4),
  stdoutRaw: bytes(5),
  stdoutDigest: one(6, DIGEST),
  stderrRaw: bytes(7),
  stderrDigest: one(8, DIGEST),
  executionMetadata: one(9, EXECUTION_METADATA),
  outputSymlinks: many(12, OUTPUT_SYMLINK),
});
export type WireResult = Of<typeof ACTION_RESULT>;

export const GET_RESULT = message({
  instanceName: text(1),
  actionDigest: one(2, DIGEST),
  inlineOutputFiles: list(5, 'string'),
});
export const UPDATE_RESULT = message({ instanceName: text(1), actionDigest: one(2, DIGEST), actionResult: one(3, ACTION_RESULT) });

export const FIND_MISSING = message({ instanceName: text(1), blobDigests: many(2, DIGEST) });
export const MISSING = message({ missingBlobDigests: many(2, DIGEST) });

const ANY = message({ typeUrl: text(1), value: bytes(2) });
export const STATUS = message({ code: int(1), message: text(2), details: many(3, ANY) });
export const RETRY_INFO = message({ retryDelay: one(1, DURATION) });

const VIOLATION = message({ type: text(1), subject: text(2), description: text(3) });
/** google.rpc.PreconditionFailure: a worker lists the blobs that it lacks, as "blobs/hash/size" of type MISSING. */
export const PRECONDITION_FAILURE = message({ violations: many(1, VIOLATION) });

const UPDATE_REQUEST = message({ digest: one(1, DIGEST), data: bytes(2) });
export const BATCH_UPDATE = message({ instanceName: text(1), requests: many(2, UPDATE_REQUEST) });
const UPDATE_ANSWER = message({ digest: one(1, DIGEST), status: one(2, STATUS) });
export const BATCH_UPDATED = message({ responses: many(1, UPDATE_ANSWER) });

export const BATCH_READ = message({ instanceName: text(1), digests: many(2, DIGEST) });
const READ_ANSWER = message({ digest: one(1, DIGEST), data: bytes(2), status: one(3, STATUS), compressor: int(4) });
export const BATCH_HAS_READ = message({ responses: many(1, READ_ANSWER) });

export const GET_CAPABILITIES = message({ instanceName: text(1) });
const UPDATE_CAPABILITIES = message({ updateEnabled: bool(1) });
const CACHE_CAPABILITIES = message({
  digestFunctions: list(1, 'int'),
  actionCacheUpdateCapabilities: one(2, UPDATE_CAPABILITIES),
  maxBatchTotalSizeBytes: int(4),
  maxCasBlobSizeBytes: int(8),
});
const EXECUTION_CAPABILITIES = message({ digestFunction: int(1), execEnabled: bool(2) });
const SEM_VER = message({ major: int(1), minor: int(2), patch: int(3), prerelease: text(4) });
export const CAPABILITIES = message({
  cacheCapabilities: one(1, CACHE_CAPABILITIES),
  executionCapabilities: one(2, EXECUTION_CAPABILITIES),
  deprecatedApiVersion: one(3, SEM_VER),
  lowApiVersion: one(4, SEM_VER),
  highApiVersion: one(5, SEM_VER),
});
export type Capabilities = Of<typeof CAPABILITIES>;

/** The value of `digestFunctions` for SHA-256. */
export const SHA256 = 1;

export const READ = message({ resourceName: text(1), readOffset: int(2), readLimit: int(3) });
export const HAS_READ = message({ data: bytes(10) });
export const WRITE = message({ resourceName: text(1), writeOffset: int(2), finishWrite: bool(3), data: bytes(10) });
export const WRITTEN = message({ committedSize: int(1) });
export const QUERY_WRITE = message({ resourceName: text(1) });
export const WRITE_STATUS = message({ committedSize: int(1), complete: bool(2) });

const TOOL = message({ toolName: text(1), toolVersion: text(2) });
export const REQUEST_METADATA = message({
  toolDetails: one(1, TOOL),
  actionId: text(2),
  toolInvocationId: text(3),
  actionMnemonic: text(5),
});

const EXECUTION_POLICY = message({ priority: int(1) });
export const EXECUTE = message({
  instanceName: text(1),
  skipCacheLookup: bool(3),
  actionDigest: one(6, DIGEST),
  executionPolicy: one(7, EXECUTION_POLICY),
});
export const WAIT_EXECUTION = message({ name: text(1) });
export const CANCEL_OPERATION = message({ name: text(1) });
export const EMPTY = message({});

/** google.longrunning.Operation: how far an execution is, and in the end its response. */
export const OPERATION = message({ name: text(1), metadata: one(2, ANY), done: bool(3), error: one(4, STATUS), response: one(5, ANY) });
export type Operation = Of<typeof OPERATION>;

/** `stage`: 1 looks for a result, 2 waits for a worker, 3 runs, 4 has ended. */
export const EXECUTE_METADATA = message({ stage: int(1), actionDigest: one(2, DIGEST), stdoutStreamName: text(3) });
export const EXECUTE_RESPONSE = message({
  result: one(1, ACTION_RESULT),
  cachedResult: bool(2),
  status: one(3, STATUS),
  message: text(5),
});
