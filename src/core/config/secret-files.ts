import { readFileSync } from 'node:fs';

/** Variables whose value may stand in a file, which `NAME_FILE` names, as container platforms mount secrets. */
const SECRET_VARIABLES = [
  'DATABASE_URL',
  'ADMIN_TOKEN',
  'ADMIN_READ_TOKEN',
  'ADMIN_TOKENS',
  'OIDC_CLIENT_SECRET',
  'SECRETS_KEY',
  'SMTP_URL',
  'HAULBRIDGE_TOKEN',
] as const;

/** A file of that size is something else than a secret. */
const MAX_BYTES = 65_536;

/** The environment with the contents of the files, without blanks around them. A fault never contains a content. */
export function readSecretFiles(source: NodeJS.ProcessEnv): {
  readonly source: NodeJS.ProcessEnv;
  readonly faults: readonly string[];
} {
  const faults: string[] = [];
  const read: Record<string, string> = {};
  for (const name of SECRET_VARIABLES) {
    const path = source[`${name}_FILE`]?.trim();
    if (path === undefined || path === '') continue;
    if (source[name]?.trim()) {
      faults.push(`${name} and ${name}_FILE are both set; remove one of them`);
      continue;
    }
    const content = contentOf(path);
    if (typeof content === 'string') read[name] = content;
    else faults.push(`${name}_FILE names a file ${content.fault}`);
  }
  return { source: { ...source, ...read }, faults };
}

function contentOf(path: string): string | { readonly fault: string } {
  try {
    const bytes = readFileSync(path);
    if (bytes.length > MAX_BYTES) return { fault: 'that is too large for a secret' };
    const text = bytes.toString('utf8').trim();
    return text === '' ? { fault: 'that is empty' } : text;
  } catch (error) {
    return { fault: `that cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})` };
  }
}

/** Empty names of files, for a process that gets these values themselves. */
export const WITHOUT_SECRET_FILES: Readonly<Record<string, string>> = Object.fromEntries(
  SECRET_VARIABLES.map((name) => [`${name}_FILE`, '']),
);
