/** What does "${…}" stand for? A value of the scope: alone it keeps the value's type, inside text it becomes text; "$${" is a plain "${". */
import { findClosest } from '../../base/did-you-mean.js';
import type { DiagnosticSink } from '../model/diagnostic.js';
import type { SourceSpan } from '../model/source-span.js';
import { listOf } from './check-schema.js';
import { findMember, type Located } from './located.js';

/** Looks names up; remembers which were used, for the warning about parameters that nothing uses. */
export interface Scope {
  readonly names: readonly string[];
  find(name: string): Located | undefined;
}

const WHOLE = /^\$\{([^{}]*)\}$/;
const ANY = /\$\$\{|\$\{([^{}]*)\}/g;

/** `located` with every reference replaced. Names under "sources." are left as they are: they name artifacts, not values. */
export function interpolate(located: Located, scope: Scope, diagnostics: DiagnosticSink): Located {
  switch (located.kind) {
    case 'list':
      return { ...located, items: located.items.map(item => interpolate(item, scope, diagnostics)) };
    case 'map':
      return {
        ...located,
        members: new Map(
          [...located.members].map(([key, member]) => [key, { ...member, value: interpolate(member.value, scope, diagnostics) }]),
        ),
      };
    default:
      return typeof located.value === 'string' ? interpolateText(located.value, located.span, scope, diagnostics) : located;
  }
}

function interpolateText(text: string, span: SourceSpan, scope: Scope, diagnostics: DiagnosticSink): Located {
  const whole = WHOLE.exec(text)?.[1];
  if (whole !== undefined && isSource(whole)) return { kind: 'scalar', value: text, span };
  if (whole !== undefined) {
    const value = lookUp(whole.trim(), span, scope, diagnostics);
    return value === undefined ? { kind: 'scalar', value: text, span } : { ...interpolate(value, scope, diagnostics), span };
  }
  const value = text.replace(ANY, (match, name: string | undefined) => {
    if (name === undefined) return '${';
    if (isSource(name)) {
      diagnostics.error('bad-reference', span, `${match} stands inside text`, "a source must stand alone, as a port's input");
      return match;
    }
    const found = lookUp(name.trim(), span, scope, diagnostics);
    if (found === undefined) return match;
    if (found.kind === 'scalar') return String(found.value);
    diagnostics.error('bad-reference', span, `${match} is a ${found.kind}, which cannot stand inside text`);
    return match;
  });
  return { kind: 'scalar', value, span };
}

function isSource(name: string): boolean {
  return name.trim().startsWith('sources.');
}

/** `item.backbone` walks into maps. */
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
        `\${${path}}: there is no "${key}" in it`,
        value.kind === 'map' ? `it has ${listOf([...value.members.keys()])}` : undefined,
      );
      return undefined;
    }
    value = member;
  }
  if (value !== undefined) return value;
  const closest = findClosest(path, scope.names);
  diagnostics.error(
    'unknown-reference',
    span,
    `\${${path}} stands for nothing here`,
    closest === undefined ? `there is ${listOf(scope.names)}` : `did you mean "\${${closest}}"?`,
  );
  return undefined;
}
