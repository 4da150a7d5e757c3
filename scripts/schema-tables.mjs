/**
 * Writes tables in docs/ from schemas.
 * Params of plugins: between `<!-- params PLUGIN [PATH] -->` and `<!-- end of params -->`; PATH takes the table of one param.
 * Fields of documents: between `<!-- fields DOCUMENT -->` and `<!-- end of fields -->`.
 * Rewrite rules: between `<!-- rules -->` and `<!-- end of rules -->`; and src/onnx/rules/generated/rule-facts.ts, what planning knows of them.
 * Usage, after a build: schema-tables.mjs [--check], which writes nothing and exits with 1 if a table differs.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RULES } from '../dist/src/onnx/rules/target/rules.js';
import { SWEEP_DOCUMENT } from '../dist/src/report/sweep-document.js';
import { TUNE_DOCUMENT } from '../dist/src/report/tune-document.js';
import { BUILT_IN_PLUGINS } from '../dist/stages/registry.js';
import { VERIFY_REPORT } from '../dist/stages/verify/report-schema.js';

const docs = resolve(dirname(fileURLToPath(import.meta.url)), '../docs');
const PARAMS = /<!-- params (\S+)(?: (\S+))? -->[\s\S]*?<!-- end of params -->/g;
const RULE_ROWS = /<!-- rules -->[\s\S]*?<!-- end of rules -->/g;
const FIELDS = /<!-- fields (\S+) -->[\s\S]*?<!-- end of fields -->/g;
const DOCUMENTS = { sweep: SWEEP_DOCUMENT, tune: TUNE_DOCUMENT, verify: VERIFY_REPORT };
/** The most characters of a table cell (test/arch/pages.test.ts). */
const LONGEST_CELL = 200;
/** The most characters of allowed values in a cell. */
const LONGEST_VALUES = 120;
/** Params that another table describes: the table takes the first sentence of their description, and a link. */
const ELSEWHERE = {
  preprocess: 'preprocessing.md',
  external: 'runner-protocol.md',
  decoder: 'stages/describe.md#decoders',
  quantize: 'stages/quantize.md#presets-and-settings',
  preset: 'stages/quantize.md#presets-and-settings',
  'rules[].name': 'stages/rewrite.md#rules',
};

const pages = ['', 'stages'].flatMap(folder =>
  readdirSync(join(docs, folder))
    .filter(name => name.endsWith('.md'))
    .map(name => join(docs, folder, name)),
);
const plugins = new Map(BUILT_IN_PLUGINS.map(({ plugin }) => [plugin.name, plugin]));
const changed = pages.filter(page => {
  const text = readFileSync(page, 'utf8');
  const next = text
    .replace(PARAMS, (_, plugin, path) => paramsBlock(page, plugin, path))
    .replace(FIELDS, (_, name) => fieldsBlock(page, name))
    .replace(RULE_ROWS, rulesBlock());
  return isWritten(page, text, next);
});
const facts = join(docs, '../src/onnx/rules/generated/rule-facts.ts');
if (isWritten(facts, readFileSync(facts, 'utf8'), ruleFacts())) changed.push(facts);

for (const page of changed) console.log(relative(docs, page));
process.exitCode = process.argv.includes('--check') && changed.length > 0 ? 1 : 0;

function paramsBlock(page, name, path) {
  const plugin = plugins.get(name);
  if (plugin === undefined) throw new Error(`${page}: no plugin has the name ${name}`);
  const rows = rowsOf(page, schemaAt(page, plugin.params, path), '', path === undefined ? ELSEWHERE : {});
  return block(`params ${name}${path === undefined ? '' : ` ${path}`}`, 'params', rows, ['param', 'values', 'default', '']);
}

function fieldsBlock(page, name) {
  const schema = DOCUMENTS[name];
  if (schema === undefined) throw new Error(`${page}: no document has the name ${name}`);
  const rows = rowsOf(page, schema, '', {}).map(row => ({
    ...row,
    // The fields of an object have rows of their own.
    values: row.values.replace(/`\{[^`]*\}`/, 'object').replace('list of object', 'list of objects'),
    byDefault: row.byDefault === 'required' ? 'always' : 'optional',
  }));
  return block(`fields ${name}`, 'fields', rows, ['field', 'values', 'present', '']);
}

function block(start, kind, rows, heads) {
  const lines = rows.map(row =>
    `| ${[code(row.name), ...cellsOf(row)].join(' | ')} |`.replace(/\|(?: {2}\|)+/g, found => found.replaceAll('  ', ' ')),
  );
  const below = rows.flatMap(itemOf);
  const head = `| ${heads.join(' | ')} |`.replace('|  |', '| |');
  const table = [head, '|---|---|---|---|', ...lines, ...(below.length === 0 ? [] : ['', ...below])];
  return [`<!-- ${start} -->`, '', ...table, '', `<!-- end of ${kind} -->`].join('\n');
}

/** Writes what has changed, unless it is only checked. Returns whether anything has. */
function isWritten(path, text, next) {
  if (next !== text && !process.argv.includes('--check')) writeFileSync(path, next);
  return next !== text;
}

/** One row per form; the first one of a rule has its name. */
function rulesBlock() {
  const rows = Object.entries(RULES).flatMap(([name, forms]) =>
    Object.entries(forms).map(([form, { proof, description }], index) => {
      if (description.length > LONGEST_CELL) throw new Error(`the description of ${name} has more than ${LONGEST_CELL} characters`);
      return `|${index === 0 ? ` ${code(name)} ` : ' '}| ${form === '' ? '–' : code(form)} | ${proof} | ${cell(description)} |`;
    }),
  );
  return ['<!-- rules -->', '', '| rule | form | class | |', '|---|---|---|---|', ...rows, '', '<!-- end of rules -->'].join('\n');
}

/** The module with the facts of all rules, without their code. */
function ruleFacts() {
  const facts = Object.entries(RULES).map(([name, own]) => {
    const forms = Object.entries(own).map(
      ([form, { proof, description }]) => `    ${quote(form)}: { proof: ${quote(proof)}, description: ${quote(description)} },`,
    );
    return [`  ${quote(name)}: {`, ...forms, '  },'].join('\n');
  });
  return [
    '/** Names, forms, proof classes and descriptions of rewrite rules. Generated by scripts/schema-tables.mjs from ../target/rules.ts; do not edit. */',
    'export const RULE_FACTS = {',
    ...facts,
    '} as const;',
    '',
  ].join('\n');
}

function quote(text) {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function cellsOf({ values, byDefault, text }) {
  return [values.length > LONGEST_VALUES ? 'see below' : values, byDefault, text.length > LONGEST_CELL ? 'see below' : text];
}

/** What is too long for the cells of a row, as an item of the list below the table. */
function itemOf({ name, values, text }) {
  const sentences = [
    ...(text.length > LONGEST_CELL ? sentencesOf(text) : []),
    ...(values.length > LONGEST_VALUES ? [`Values: ${values}.`] : []),
  ];
  return sentences.length === 0 ? [] : [`- ${code(name)}: ${sentences.join('\n  ')}`];
}

function schemaAt(page, schema, path) {
  return (path?.split('.') ?? []).reduce((inner, name) => {
    const member = membersOf(inner).find(([key]) => key === name)?.[1];
    if (member === undefined) throw new Error(`${page}: no param has the path ${path}`);
    return member;
  }, schema);
}

/** Members by name; a list or a map has those of its items. */
function membersOf(schema) {
  if (schema.properties !== undefined) return Object.entries(schema.properties);
  return Object.entries(itemsOf(schema)?.properties ?? {});
}

function itemsOf(schema) {
  return schema.items ?? (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);
}

function rowsOf(page, schema, prefix, elsewhere) {
  const required = (schema.properties === undefined ? itemsOf(schema) : schema)?.required ?? [];
  return membersOf(schema).flatMap(([member, inner]) => {
    const name = `${prefix}${member}`;
    const target = elsewhere[name];
    const byDefault = required.includes(member) ? 'required' : inner.default === undefined ? '' : code(flow(inner.default));
    const text = describe(page, inner);
    const step = inner.items !== undefined ? '[].' : inner.properties === undefined ? '.*.' : '.';
    if (target === undefined)
      return [{ name, values: cell(typeOf(inner)), byDefault, text }, ...rowsOf(page, inner, `${name}${step}`, elsewhere)];
    const values = inner.type === 'object' ? 'map' : cell(typeOf(inner));
    return [{ name, values, byDefault, text: `${sentencesOf(text)[0]} ${linkTo(page, target)}` }];
  });
}

/** The description, with values as code where they begin their explanation: "none: …". */
function describe(page, schema) {
  const values = (schema.anyOf ?? [schema]).flatMap(form => form.enum ?? (form.const === undefined ? [] : [form.const]));
  const text = cell(schema.description ?? '').replace(/docs\/(\S+\.md)/g, (_, file) =>
    join(docs, file) === page ? 'this page' : `[${file}](${relative(dirname(page), join(docs, file))})`,
  );
  return values.reduce(
    (written, value) => written.replace(new RegExp(`(^|[.:] )${asPattern(value)}(?=(?: \\([^)]*\\))?: )`), `$1${code(value)}`),
    text,
  );
}

function asPattern(value) {
  return String(value).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function linkTo(page, target) {
  const [file, anchor] = target.split('#');
  const path = relative(dirname(page), join(docs, file));
  return path === relative(dirname(page), page)
    ? `See [below](#${anchor}).`
    : `See [${file}](${path}${anchor === undefined ? '' : `#${anchor}`}).`;
}

/** A sentence begins with a capital letter, or with the value that it describes. */
function sentencesOf(text) {
  return text.split(/(?<=\.) (?=[A-Z{`]|\S+(?: \([^)]*\))?: )/);
}

function typeOf(schema) {
  const forms = schema.anyOf ?? schema.oneOf;
  if (forms !== undefined) return [...new Set(forms.map(typeOf))].join(' or ');
  if (schema.const !== undefined) return code(String(schema.const));
  if (schema.enum !== undefined) return schema.enum.map(value => code(String(value))).join(', ');
  if (schema.type === 'array') return listType(schema);
  if (schema.type === 'object') return objectType(schema);
  if (schema.type === undefined) return 'any value';
  if (schema.type === 'boolean') return `${code('true')}, ${code('false')}`;
  return schema.type === 'string' ? 'text' : `${schema.type}${boundsOf(schema)}`;
}

function listType({ items, minItems, maxItems }) {
  const count = minItems !== undefined && minItems === maxItems ? `${minItems} × ` : 'list of ';
  return `${count}${items === undefined ? 'any values' : typeOf(items)}`;
}

function objectType({ properties, additionalProperties }) {
  if (properties !== undefined) return code(`{${Object.keys(properties).join(', ')}}`);
  return typeof additionalProperties === 'object' ? `name → ${typeOf(additionalProperties)}` : 'map';
}

function boundsOf({ minimum, maximum, exclusiveMinimum }) {
  if (minimum !== undefined && maximum !== undefined) return ` ${short(minimum)} … ${short(maximum)}`;
  const low = exclusiveMinimum === undefined ? (minimum === undefined ? '' : ` ≥ ${minimum}`) : ` > ${exclusiveMinimum}`;
  return `${low}${maximum === undefined ? '' : `${low === '' ? '' : ','} ≤ ${maximum}`}`;
}

/** A bound in at most six digits. */
function short(bound) {
  return Number(bound.toPrecision(6));
}

/** A value in YAML's flow form. */
function flow(value) {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  if (typeof value !== 'object') return value === '' ? '""' : String(value);
  return `{${Object.entries(value)
    .map(([name, member]) => `${name}: ${flow(member)}`)
    .join(', ')}}`;
}

function code(text) {
  return `\`${text}\``;
}

function cell(text) {
  return text.replaceAll('|', '\\|');
}
