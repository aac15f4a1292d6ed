import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Command } from 'commander';
import type { LocalService } from '../core/config/local-service.js';
import { AdminClient } from './admin-client.js';
import { readSecretFile, SecretInputError } from '../core/text/secret-input.js';
import { CommandError, USAGE } from './command-error.js';
import { readSecretOption } from './options.js';

export interface TargetOptions {
  readonly url?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly insecure?: boolean;
}

/** The options of every command that choose the service and its token. */
export function addTargetOptions(program: Command): void {
  program
    .option('--url <url>', 'address of the service (HAULBRIDGE_URL)')
    .option(
      '--token <text>',
      'admin token (HAULBRIDGE_TOKEN); - reads it from standard input, @FILE from a file',
      readSecretOption,
    )
    .option('--token-file <file>', 'file with the admin token')
    .option('--insecure', 'send the token over http to another host');
}

export interface Target {
  readonly client: AdminClient;
  /** What to do after a 401. */
  readonly advice: string;
}

/**
 * The service that a command calls. A token that was found on this machine is sent to the address that it belongs to and to
 * no other: `--url` needs a token of its own. No token is sent unencrypted to another host.
 */
export function targetOf(options: TargetOptions, local: LocalService): Target {
  const address = options.url ?? local.url;
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    throw new CommandError(`--url must be an http or https address: ${address}`, USAGE);
  }
  const url = new URL(address);
  if (url.username !== '' || url.password !== '')
    throw new CommandError('--url must have no credentials: pass --token', USAGE);
  const isLocal = url.origin === originOf(local.url);
  const token = givenToken(options) ?? local.givenToken ?? (isLocal ? local.token : undefined);
  const isWithheld = token === undefined && local.token !== undefined;
  const advice = isWithheld
    ? `the token of ${originOf(local.url)} is sent to no other address: pass --token`
    : 'pass --token or set HAULBRIDGE_TOKEN';
  if (token !== undefined) assertSendable(token, url, options.insecure === true);
  return { client: new AdminClient({ url, token }), advice };
}

const originOf = (address: string): string => (URL.canParse(address) ? new URL(address).origin : address);

function givenToken({ token, tokenFile }: TargetOptions): string | undefined {
  if (tokenFile === undefined) return token;
  if (token !== undefined) throw new CommandError('--token cannot be used with --token-file', USAGE);
  try {
    return readSecretFile(tokenFile);
  } catch (error) {
    throw error instanceof SecretInputError ? new CommandError(`--token-file: ${error.message}`, USAGE) : error;
  }
}

function assertSendable(token: string, url: URL, isInsecure: boolean): void {
  if (!/^[\x20-\x7e]+$/.test(token)) throw new CommandError('the token must have visible ASCII characters only', USAGE);
  if (url.protocol === 'https:' || isInsecure || isThisMachine(url.hostname.replace(/[[\]]/g, ''))) return;
  const advice = 'use https, or pass --insecure';
  throw new CommandError(`the token would be sent unencrypted to ${url.host}: ${advice}`, USAGE);
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** What is sent there does not leave the machine. */
function isThisMachine(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return /^(?:.+\.)?localhost\.?$/.test(host);
  if (loopback.check(host, version === 4 ? 'ipv4' : 'ipv6')) return true;
  return Object.values(networkInterfaces()).some((addresses = []) => addresses.some(({ address }) => address === host));
}
