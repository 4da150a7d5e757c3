/** Options with the type of their value. Each one is a commander option whose parsed value a typed reader returns. */
import { type Command, InvalidArgumentError, Option } from 'commander';

/** @throws InvalidArgumentError with the expected form. */
export type Parse<T> = (text: string) => T;

/** `presence` says whether the value is there when the option is not given: its default, or an empty list. */
export interface TypedOption<T, P extends 'always' | 'if-given' = 'always' | 'if-given'> {
  readonly presence: P;
  /** Adds the option to `command`. The returned function reads the value after the arguments are parsed. */
  readonly attach: (command: Command) => () => T;
}

export type OptionTable = Readonly<Record<string, TypedOption<unknown>>>;

type IfGiven<O extends OptionTable> = { [K in keyof O]: O[K]['presence'] extends 'if-given' ? K : never }[keyof O];

/** The values of a table's options by name. The property of an option without a default is absent if the option is not given. */
export type ValuesOf<O extends OptionTable> = {
  readonly [K in Exclude<keyof O, IfGiven<O>>]: O[K] extends TypedOption<infer T> ? T : never;
} & {
  readonly [K in IfGiven<O>]?: O[K] extends TypedOption<infer T> ? Exclude<T, undefined> : never;
};

/** An option without a value; `--no-x` gives an option that is true unless it is given. */
export function flag(flags: string, description: string, conflicts: readonly string[] = []): TypedOption<boolean, 'always'> {
  return {
    presence: 'always',
    attach(command) {
      const option = new Option(flags, description).conflicts([...conflicts]);
      command.addOption(option);
      return () => command.getOptionValue(option.attributeName()) === true;
    },
  };
}

/** A default, and its form in the help text; without a form, the help text shows no default. */
export interface Default<T> {
  readonly value: T;
  readonly shown?: string;
}

export function value<T>(flags: string, description: string, parse: Parse<T>, fallback: Default<T>): TypedOption<T, 'always'> {
  return {
    presence: 'always',
    attach(command) {
      let current = fallback.value;
      const text = fallback.shown === undefined ? description : `${description} (default: ${fallback.shown})`;
      command.addOption(
        new Option(flags, text).argParser(given => {
          current = parse(given);
        }),
      );
      return () => current;
    },
  };
}

/** An option without a default. @param preset the value of the option if it is given without a value ("--x [value]"). */
export function optional<T>(flags: string, description: string, parse: Parse<T>, preset?: string): TypedOption<T | undefined, 'if-given'> {
  return {
    presence: 'if-given',
    attach(command) {
      let current: T | undefined;
      const option = new Option(flags, description).argParser(given => {
        current = parse(given);
      });
      command.addOption(preset === undefined ? option : option.preset(preset));
      return () => current;
    },
  };
}

/** An option that must be given. */
export function required<T>(flags: string, description: string, parse: Parse<T>): TypedOption<T, 'always'> {
  return {
    presence: 'always',
    attach(command) {
      let current: { readonly value: T } | undefined;
      command.addOption(
        new Option(flags, description)
          .argParser(given => {
            current = { value: parse(given) };
          })
          .makeOptionMandatory(),
      );
      return () => {
        if (current === undefined) throw new InvalidArgumentError(`${flags} is missing`);
        return current.value;
      };
    },
  };
}

export function choice<const T extends string>(
  flags: string,
  description: string,
  choices: readonly T[],
  fallback: NoInfer<T>,
): TypedOption<T, 'always'> {
  return withChoices(value(flags, description, oneOf(choices), { value: fallback, shown: fallback }), choices);
}

export function optionalChoice<const T extends string>(
  flags: string,
  description: string,
  choices: readonly T[],
): TypedOption<T | undefined, 'if-given'> {
  return withChoices(optional(flags, description, oneOf(choices)), choices);
}

export function requiredChoice<const T extends string>(
  flags: string,
  description: string,
  choices: readonly T[],
): TypedOption<T, 'always'> {
  return withChoices(required(flags, description, oneOf(choices)), choices);
}

/** Shell completion offers the choices. */
function withChoices<O extends TypedOption<unknown>>(option: O, choices: readonly string[]): O {
  return {
    ...option,
    attach(command: Command) {
      const read = option.attach(command);
      const attached = command.options.at(-1);
      if (attached !== undefined) attached.argChoices = [...choices];
      return read;
    },
  };
}

function oneOf<T extends string>(choices: readonly T[]): Parse<T> {
  return text => {
    const found = choices.find(one => one === text);
    if (found === undefined) throw new InvalidArgumentError(`Expected ${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}.`);
    return found;
  };
}

/** A repeatable option: its values in order. */
export function repeated<T>(flags: string, description: string, parse: Parse<T>): TypedOption<readonly T[], 'always'> {
  return {
    presence: 'always',
    attach(command) {
      const values: T[] = [];
      command.addOption(
        new Option(flags, `${description} (repeatable)`).argParser(given => {
          values.push(parse(given));
        }),
      );
      return () => values;
    },
  };
}

/** An option with one or more values ("--x <names...>"). */
export function several<T>(flags: string, description: string, parse: Parse<T>): TypedOption<readonly T[] | undefined, 'if-given'> {
  return {
    presence: 'if-given',
    attach(command) {
      const values: T[] = [];
      command.addOption(
        new Option(flags, description).argParser(given => {
          values.push(parse(given));
        }),
      );
      return () => (values.length === 0 ? undefined : values);
    },
  };
}

/** A repeatable option of named values; a later value replaces an earlier one of the same name. */
export function named<T>(
  flags: string,
  description: string,
  parse: Parse<readonly [name: string, value: T]>,
): TypedOption<Readonly<Record<string, T>>, 'always'> {
  return {
    presence: 'always',
    attach(command) {
      const entries = new Map<string, T>();
      command.addOption(
        new Option(flags, `${description} (repeatable)`).argParser(given => {
          entries.set(...parse(given));
        }),
      );
      return () => Object.fromEntries(entries);
    },
  };
}

/** Adds all options to `command`. The returned function reads their values. */
export function attachAll<O extends OptionTable>(command: Command, options: O): () => ValuesOf<O> {
  const readers = Object.entries(options).map(([name, option]) => [name, option.attach(command)] as const);
  return () => {
    const values = readers.map(([name, read]) => [name, read()] as const);
    // Each reader returns the type of its option, and the absent ones are left out: this is what ValuesOf states.
    return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as ValuesOf<O>;
  };
}
