/** The values of `build --report`. */
import { InvalidArgumentError } from 'commander';

const FORMS = ['junit', 'json', 'github', 'markdown'] as const;

export interface ReportOrder {
  readonly form: (typeof FORMS)[number];
  readonly path: string | undefined;
}

/** "junit=report.xml,github" → two orders. @throws InvalidArgumentError. */
export function parseReports(text: string): readonly ReportOrder[] {
  // A comma may be part of a file name, unless a form follows it.
  return text.split(/,(?=(?:junit|json|github|markdown)(?:[=,]|$))/).map(parseReport);
}

function parseReport(text: string): ReportOrder {
  const [, name = '', path] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
  const form = FORMS.find(one => one === name);
  if (form === undefined) throw new InvalidArgumentError(`Expected junit=FILE, json=FILE, github or markdown[=FILE], found "${text}".`);
  if (path === '' || (path === undefined && (form === 'junit' || form === 'json')))
    throw new InvalidArgumentError(`${form} needs a file: ${form}=FILE.`);
  if (path !== undefined && form === 'github') throw new InvalidArgumentError('github takes no file: it prints workflow commands.');
  return { form, path };
}
