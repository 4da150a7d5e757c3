/** Replacement of "${…}" references by values of a scope: a reference alone keeps the value's type, inside text it becomes text; "$${" is a literal "${". */
import { findClosest } from '../../base/text/did-you-mean.js';
import type { DiagnosticSink } from '../model/diagnostic.js';
import type { SourceSpan } from '../model/source-span.js';
import { listOf } from './check-schema.js';
import { findMember, type Located } from './located.js';

/** Looks up names and records which were used, for the warning about unused parameters. */
export interface Scope {
  readonly names: readonly string[];
  find(name: string): Located | undefined;
  /** Takes characters from the budget for expanded references. Returns false when the budget is exhausted, which is reported once. */
  readonly spend: (characters: number, span: SourceSpan) => boolean;
}

/** Maximum number of characters in everything in which references are replaced, over the whole file. */
const MAX_CHARACTERS = 100_000_000;
/** The memory cost of a value that is not text, in characters. */
const VALUE_CHARACTERS = 25;

export function makeBudget(diagnostics: DiagnosticSink): Scope['spend'] {
  let left = MAX_CHARACTERS;
  return (characters, span) => {
    if (left < 0) return false;
    left -= characters;
    if (left >= 0) return true;
    const message = `references expand to more than ${MAX_CHARACTERS.toLocaleString('en')} characters`;
    diagnostics.error(
      'references-too-large',
      span,
      message,
      `each value counts as ${VALUE_CHARACTERS} characters; refer to large values from fewer stages`,
    );
    return false;
  };
}

/** Maximum depth of references to parameters that are themselves references. A deeper chain is circular. */
const MAX_REFERENCES = 50;

const WHOLE = /^\$\{([^{}]*)\}$/;
const ANY = /\$\$\{|\$\{([^{}]*)\}/g;

/** Returns `located` with every reference replaced. References to "sources." are left unchanged, because they name artifacts, not values. */
export function interpolate(located: Located, scope: Scope, diagnostics: DiagnosticSink, depth = 0): Located {
  const characters = located.kind === 'scalar' && typeof located.value === 'string' ? located.value.length : 0;
  if (!scope.spend(VALUE_CHARACTERS + characters, located.span)) return { kind: 'scalar', value: null, span: located.span };
  switch (located.kind) {
    case 'list':
      return { ...located, items: located.items.map(item => interpolate(item, scope, diagnostics, depth)) };
    case 'map':
      return {
        ...located,
        members: new Map(
          [...located.members].map(([key, member]) => [key, { ...member, value: interpolate(member.value, scope, diagnostics, depth) }]),
        ),
      };
    default:
      return typeof located.value === 'string' ? interpolateText(located.value, located.span, scope, diagnostics, depth) : located;
  }
}

function interpolateText(text: string, span: SourceSpan, scope: Scope, diagnostics: DiagnosticSink, depth: number): Located {
  const whole = WHOLE.exec(text)?.[1];
  if (whole !== undefined && isSource(whole)) return { kind: 'scalar', value: text, span };
  if (whole !== undefined) {
    const value = lookUp(whole.trim(), span, scope, diagnostics);
    if (value === undefined) return { kind: 'scalar', value: text, span };
    if (depth < MAX_REFERENCES) return { ...interpolate(value, scope, diagnostics, depth + 1), span };
    diagnostics.error('bad-reference', span, `${text} refers to itself`, 'a parameter cannot depend on itself');
    return { kind: 'scalar', value: null, span };
  }
  const value = text.replace(ANY, (match, name: string | undefined) => {
    if (name === undefined) return '${';
    if (isSource(name)) {
      diagnostics.error('bad-reference', span, `${match} is used inside text`, 'use a source on its own, as the input of a port');
      return match;
    }
    const found = lookUp(name.trim(), span, scope, diagnostics);
    if (found === undefined) return match;
    if (found.kind === 'scalar') return spendText(String(found.value), match, span, scope);
    diagnostics.error('bad-reference', span, `${match} is a ${found.kind}, which cannot be used inside text`);
    return match;
  });
  return { kind: 'scalar', value, span };
}

function spendText(text: string, match: string, span: SourceSpan, scope: Scope): string {
  return scope.spend(text.length, span) ? text : match;
}

function isSource(name: string): boolean {
  return name.trim().startsWith('sources.');
}

/** A dotted path such as `item.backbone` walks into maps. */
function lookUp(path: string, span: SourceSpan, scope: Scope, diagnostics: DiagnosticSink): Located | undefined {
  const direct = scope.find(path);
  if (direct !== undefined) return direct;
  const [head = '', ...rest] = path.split('.');
  let value = scope.find(head);
  for (const key of rest) {
    if (value === undefined) break;
    const member = findMember(value, key);
    if (member === undefined) {
      diagnostics.error(
        'unknown-reference',
        span,
        `\${${path}}: it has no entry "${key}"`,
        value.kind === 'map' ? `its entries are ${listOf([...value.members.keys()])}` : undefined,
      );
      return undefined;
    }
    value = member;
  }
  if (value !== undefined) return value;
  diagnostics.error('unknown-reference', span, `\${${path}} is undefined here`, () => {
    const closest = findClosest(path, scope.names);
    return closest === undefined ? `known names: ${listOf(scope.names)}` : `did you mean "\${${closest}}"?`;
  });
  return undefined;
}
