/** Where the user's settings file is. */
import { homedir } from 'node:os';
import { join } from 'node:path';

export function settingsPath(environment: NodeJS.ProcessEnv): string {
  const { TANREN_CONFIG, XDG_CONFIG_HOME } = environment;
  if (TANREN_CONFIG !== undefined && TANREN_CONFIG !== '') return TANREN_CONFIG;
  const folder = XDG_CONFIG_HOME === undefined || XDG_CONFIG_HOME === '' ? join(homedir(), '.config') : XDG_CONFIG_HOME;
  return join(folder, 'tanren', 'config.yaml');
}
