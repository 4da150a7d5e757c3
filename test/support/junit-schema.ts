/**
 * A check of JUnit XML, independent of the writer: a small strict XML parser, and the elements, attributes and counts that
 * the schema of Jenkins's xunit plugin (junit-10.xsd) allows and GitLab's reader needs.
 */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  readonly text: string;
}

interface Rule {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly children: readonly string[];
}

const RULES: Readonly<Record<string, Rule>> = {
  testsuites: { required: [], optional: ['name', 'time', 'tests', 'failures', 'disabled', 'errors'], children: ['testsuite'] },
  testsuite: {
    required: ['name', 'tests'],
    optional: ['failures', 'errors', 'time', 'disabled', 'skipped', 'timestamp', 'hostname', 'id', 'package'],
    children: ['properties', 'testcase', 'system-out', 'system-err'],
  },
  testcase: {
    required: ['name', 'classname'],
    optional: ['assertions', 'time', 'status'],
    children: ['skipped', 'error', 'failure', 'system-out', 'system-err'],
  },
  failure: { required: [], optional: ['type', 'message'], children: [] },
  error: { required: [], optional: ['type', 'message'], children: [] },
  skipped: { required: [], optional: ['message'], children: [] },
  'system-out': { required: [], optional: [], children: [] },
};

/** The root, if the document is well-formed and follows the schema. @throws Error with what is wrong. */
export function checkJunit(document: string): XmlElement {
  const root = parseXml(document);
  if (root.name !== 'testsuites') throw new Error(`the root is ${root.name}`);
  check(root);
  for (const suite of root.children) checkCounts(suite, suite.children);
  checkCounts(
    root,
    root.children.flatMap(suite => suite.children),
  );
  return root;
}

function check(element: XmlElement): void {
  const rule = RULES[element.name];
  if (rule === undefined) throw new Error(`unknown element ${element.name}`);
  const names = Object.keys(element.attributes);
  for (const name of rule.required) if (!names.includes(name)) throw new Error(`${element.name} has no ${name}`);
  for (const name of names)
    if (![...rule.required, ...rule.optional].includes(name)) throw new Error(`${element.name} may not have ${name}`);
  for (const name of ['tests', 'failures', 'errors', 'skipped']) {
    const value = element.attributes[name];
    if (value !== undefined && !/^\d+$/.test(value)) throw new Error(`${name} is ${value}`);
  }
  const { time } = element.attributes;
  if (time !== undefined && !/^\d+(\.\d+)?$/.test(time)) throw new Error(`time is ${time}`);
  if (element.children.length > 0 && element.text.trim() !== '') throw new Error(`${element.name} has text beside elements`);
  for (const child of element.children) {
    if (!rule.children.includes(child.name)) throw new Error(`${child.name} in ${element.name}`);
    check(child);
  }
}

function checkCounts({ attributes }: XmlElement, cases: readonly XmlElement[]): void {
  const count = (name: string): number => cases.filter(({ children }) => children.some(child => child.name === name)).length;
  const expected: Readonly<Record<string, number>> = {
    tests: cases.length,
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
  };
  for (const [name, value] of Object.entries(attributes)) {
    const right = expected[name];
    if (right !== undefined && Number(value) !== right) throw new Error(`${name} is ${value}, but there are ${right}`);
  }
}

/** Strict: one root, quoted attributes, five entities and character references, and only characters of XML 1.0. */
export function parseXml(document: string): XmlElement {
  if (/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u.test(document)) throw new Error('a character that XML does not allow');
  const head = /^<\?xml version="1\.0" encoding="UTF-8"\?>\s*/.exec(document);
  if (head === null) throw new Error('no XML declaration');
  let at = head[0].length;
  const take = (pattern: RegExp): RegExpExecArray => {
    const sticky = new RegExp(pattern.source, 'y');
    sticky.lastIndex = at;
    const found = sticky.exec(document);
    if (found === null) throw new Error(`not well-formed at ${JSON.stringify(document.slice(at, at + 60))}`);
    at = sticky.lastIndex;
    return found;
  };
  const element = (): XmlElement => {
    const [, name = '', list = '', closed] = take(/<([A-Za-z][\w-]*)((?:\s+[A-Za-z][\w-]*="[^"<]*")*)\s*(\/?)>/);
    const attributes: Record<string, string> = {};
    for (const [, key = '', value = ''] of list.matchAll(/([A-Za-z][\w-]*)="([^"]*)"/g)) {
      if (key in attributes) throw new Error(`${key} twice`);
      // A line break in an attribute would be read as a space.
      if (/[\n\t]/.test(value)) throw new Error(`a raw line break in ${key}`);
      attributes[key] = decode(value);
    }
    const children: XmlElement[] = [];
    let text = '';
    while (closed !== '/') {
      const [raw] = take(/[^<]*/);
      text += decode(raw);
      if (document.startsWith('</', at)) {
        const [, ended] = take(/<\/([\w-]+)>/);
        if (ended !== name) throw new Error(`${name} is closed by ${ended}`);
        break;
      }
      children.push(element());
    }
    return { name, attributes, children, text };
  };
  const root = element();
  if (document.slice(at).trim() !== '') throw new Error('something follows the root');
  return root;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decode(text: string): string {
  if (/[<>]/.test(text.replaceAll('&gt;', ''))) throw new Error('raw markup in text');
  return text.replaceAll(/&([^;&]*);|&/g, (whole, name: string | undefined) => {
    if (name?.startsWith('#')) return String.fromCodePoint(Number(name.slice(1)));
    const found = name === undefined ? undefined : ENTITIES[name];
    if (found === undefined) throw new Error(`unknown entity ${whole}`);
    return found;
  });
}
