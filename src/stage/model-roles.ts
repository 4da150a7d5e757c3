/** Roles of a detector's models among the files of a part. The prefix keeps a model named `image` apart from the file `image`. */

const PREFIX = 'part:';

/** The files of models by role. */
export function rolesOfModels<T>(models: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(models).map(([name, file]) => [`${PREFIX}${name}`, file]));
}

/** The files of models by name; other roles are ignored. */
export function modelsOfRoles<T>(files: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(
    Object.entries(files).flatMap(([role, file]) => (role.startsWith(PREFIX) ? [[role.slice(PREFIX.length), file]] : [])),
  );
}
