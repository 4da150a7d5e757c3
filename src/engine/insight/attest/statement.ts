/**
 * Provenance of a stage's result as an in-toto statement: which outputs an action made, from what.
 * Source: in-toto Attestation Framework, Statement v1 (https://in-toto.io/Statement/v1), and SLSA Provenance v1 (https://slsa.dev/provenance/v1).
 */
import type { Digest } from '../../../base/digest.js';
import { isJsonObject, type Json, type JsonObject } from '../../../base/json.js';
import { ANYTHING, anyList, anyObject, constant, list, mapOf, openObject, text } from '../../../base/schema/build-schema.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';

export const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';
export const PREDICATE_TYPE = 'https://slsa.dev/provenance/v1';
export const BUILD_TYPE = 'urn:tanren:action:1';
const BUILDER = 'urn:tanren:builder';

/** Names of digests. `tanrenTree` is that of a folder's tree document, `tanrenCode` that of a plugin's code. */
const [SHA256, TREE, CODE] = ['sha256', 'tanrenTree', 'tanrenCode'] as const;

const RESOURCE = openObject({ name: text(), digest: mapOf(text()) }, { annotations: anyObject() });

export type Resource = FromSchema<typeof RESOURCE>;

export const STATEMENT = openObject({
  _type: constant(STATEMENT_TYPE),
  subject: list(RESOURCE),
  predicateType: constant(PREDICATE_TYPE),
  predicate: openObject({
    buildDefinition: openObject({
      buildType: constant(BUILD_TYPE),
      externalParameters: openObject({ pipeline: text(), stage: text(), plugin: text(), params: anyObject() }),
      internalParameters: openObject({ manifest: anyObject('The action manifest, whose digest is the action key.') }),
      resolvedDependencies: anyList(RESOURCE),
    }),
    runDetails: openObject({
      builder: openObject({ id: text(), version: mapOf(ANYTHING) }),
      metadata: openObject({ invocationId: text('The action key.') }),
    }),
  }),
});

export type Statement = FromSchema<typeof STATEMENT>;

/** Where an input comes from: a source, or the output of another stage, as "stage.port". */
export type Origins = Readonly<Record<string, JsonObject>>;

export interface StatementFacts {
  readonly pipeline: string;
  readonly stage: string;
  readonly manifest: JsonObject;
  readonly key: string;
  readonly subject: readonly Resource[];
  /** By the names that `dependenciesIn` gives. */
  readonly origins: Origins;
  readonly version: string;
}

/** It has no times and no names of machines: equal results have equal statements. */
export function makeStatement({ pipeline, stage, manifest, key, subject, origins, version }: StatementFacts): Statement {
  const { plugin, params } = manifest;
  return {
    _type: STATEMENT_TYPE,
    subject,
    predicateType: PREDICATE_TYPE,
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: { pipeline, stage, plugin: String(plugin), params: isJsonObject(params) ? params : {} },
        internalParameters: { manifest },
        resolvedDependencies: dependenciesIn(manifest).map(resource => {
          const from = origins[resource.name];
          return from === undefined ? resource : { ...resource, annotations: from };
        }),
      },
      runDetails: { builder: { id: BUILDER, version: { tanren: version } }, metadata: { invocationId: key } },
    },
  };
}

/** A file of an output, or a whole folder, whose name then ends with a slash. */
export function subjectOf(name: string, kind: 'file' | 'tree', digest: Digest): Resource {
  return kind === 'file' ? { name, digest: { [SHA256]: digest } } : { name: `${name}/`, digest: { [TREE]: digest } };
}

/** The digest that a resource states, and of what; undefined if it states none that is known here. */
export function contentOf({ digest }: Resource): { readonly kind: 'file' | 'tree'; readonly digest: string } | undefined {
  const { [SHA256]: file, [TREE]: tree } = digest;
  if (file !== undefined) return { kind: 'file', digest: file };
  return tree === undefined ? undefined : { kind: 'tree', digest: tree };
}

/** What an action depends on, by its manifest: inputs, programs and the plugin's code, sorted by name. */
export function dependenciesIn(manifest: JsonObject): readonly Resource[] {
  const found: Resource[] = [];
  for (const [port, input] of Object.entries(objectOf(manifest.inputs))) {
    if (isRecordOfInputs(objectOf(input)))
      for (const [entry, one] of Object.entries(objectOf(input))) found.push(inputResource(`input:${port}.${entry}`, objectOf(one)));
    else found.push(inputResource(`input:${port}`, objectOf(input)));
  }
  for (const [tool, digest] of Object.entries(objectOf(manifest.tools)))
    found.push({ name: `tool:${tool}`, digest: { [SHA256]: textOf(digest) } });
  found.push({ name: `plugin:${textOf(manifest.plugin)}`, digest: { [CODE]: textOf(manifest.code) } });
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A record of artifacts has no digest of its own. */
function isRecordOfInputs(input: JsonObject): boolean {
  return typeof input.digest !== 'string';
}

function inputResource(name: string, { kind, digest }: JsonObject): Resource {
  return { name, digest: { [kind === 'tree' ? TREE : SHA256]: textOf(digest) } };
}

/** Manifests of untrusted files hold anything, also objects that cannot become text. */
function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
