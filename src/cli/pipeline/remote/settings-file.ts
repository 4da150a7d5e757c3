/** The user's settings file: the remote cache, and the origins that are trusted, each with its credentials. */
import { readFileSync } from 'node:fs';
import { readJsonShape } from '../../../base/json/json-shape.js';
import { flag, list, mapOf, matching, object, text } from '../../../base/schema/build-schema.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';
import { readerOf } from '../../../base/schema/schema-reader.js';
import { isMissing } from '../../../base/system-error.js';
import { checkSchema } from '../../../engine/config/check-schema.js';
import { parseYaml } from '../../../engine/config/parse-yaml.js';
import { type Diagnostic, makeDiagnosticList, sortDiagnostics } from '../../../engine/model/diagnostic.js';
import { settingsPath } from './settings-path.js';

const VARIABLE = matching(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable', 'Variable that holds the token.');

const ORIGIN_SCHEMA = object(
  {},
  {
    token: VARIABLE,
    header: matching(/^[A-Za-z0-9-]+$/, 'the name of a header', 'Header for the token; default: `authorization`.'),
    scheme: text('Word before the token in `authorization`, such as `Bearer` (the default) or `Basic`.'),
    ca: text('PEM file of the certificate authority; default: those of the system.'),
    certificate: text('PEM file that identifies this client.'),
    key: text('PEM file of its private key.'),
  },
);

export type OriginSettings = FromSchema<typeof ORIGIN_SCHEMA>;

const SETTINGS_SCHEMA = object(
  {},
  {
    remote: object(
      {},
      {
        cache: text('Address of the remote cache.'),
        read: flag('Whether results are taken from it; default: true.'),
        write: flag('Whether results go to it; default: false.'),
        sign: text('PEM file of the Ed25519 private key that signs results.'),
        trust: list(text('PEM file of an Ed25519 public key.'), 'Results count only if one of these keys signed them.'),
        salt: text('Separates results from those of builds with another salt.'),
        timeout: matching(/^\s*\d+(\.\d+)?\s*(ms|s|m)\s*$/, 'a time, for example 10s', 'Longest wait for an answer; default: 10s.'),
      },
    ),
    origins: mapOf(ORIGIN_SCHEMA, { description: 'Trusted origins, such as `grpcs://cache.example.com`, with their credentials.' }),
  },
);

export type UserSettings = FromSchema<typeof SETTINGS_SCHEMA>;

export interface SettingsFile {
  readonly path: string;
  readonly settings: UserSettings;
}

export interface LoadedSettings {
  /** undefined if there are errors. */
  readonly file: SettingsFile | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly sources: ReadonlyMap<string, string>;
}

/** A missing file has no settings. */
export function loadSettings(environment: NodeJS.ProcessEnv): LoadedSettings {
  const path = settingsPath(environment);
  const diagnostics = makeDiagnosticList();
  let source = '';
  try {
    source = readFileSync(path, 'utf8');
  } catch (error) {
    if (!isMissing(error))
      diagnostics.error('bad-settings', undefined, `${path} cannot be read`, 'make it readable, or name another file with TANREN_CONFIG');
  }
  const root = parseYaml(path, source, diagnostics);
  const value =
    root === undefined ? {} : checkSchema({ schema: SETTINGS_SCHEMA, origin: 'own' }, root, 'setting', 'the settings file', diagnostics);
  const read = readJsonShape(readerOf(SETTINGS_SCHEMA), value);
  const file = read.kind === 'ok' && !diagnostics.hasErrors() ? { path, settings: read.value } : undefined;
  return { file, diagnostics: sortDiagnostics(diagnostics), sources: new Map([[path, source]]) };
}
