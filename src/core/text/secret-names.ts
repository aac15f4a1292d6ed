/** Stands in place of a secret. */
export const REDACTED = '[redacted]';

/** Names that are secret as they are. A longer name that ends so, such as `monkey`, is not. */
const NAMES = 'auth|bearer|cookies|hmac|jwt|keys?|pass|pwd|sas|sig';

/** Endings of secret names: `token` stands for `X-Auth-Token`, `accessToken` and `refresh_token` as well. */
const ENDINGS = [
  'apikeys?|accesskey(id)?|(auth|encryption|master|private|secrets?|session|shared|signing|subscription)key',
  'authorization|authentication|assertion|cookie|credentials?|sess(ion)?id|signature',
  'pass(code|phrase|wd|words?|wordconfirmation)|secrets?|tokens?',
].join('|');

const SECRET = new RegExp(`^(?:${NAMES}|.*(?:${ENDINGS}))\\d*$`);

/** A text without any of these words has no secret name, unless the name is encoded. */
const WORDS =
  'auth|authentication|authorization|assertion|bearer|confirmation|cookies?|credentials?|hmac|jwt|keys?' +
  '|pass|passcode|passphrase|passwd|passwords?|pwd|sas|secrets?|sig|signature|tokens?';

export const SECRET_WORD = new RegExp(`${WORDS}|sess|basic`, 'i');

/** `sessionId`, `access-key-id`: other names that end with `id` are common, and none of them is secret. */
const SECRET_ID = '(?:key|sess(?:ion)?)[_.-]*id';

/** A word or id before `=`, or in quotes before `:`. */
export const SECRET_ASSIGNMENT = new RegExp(`(?:${WORDS}|${SECRET_ID})\\d*(?:=|\\\\{0,8}["']\\s*[:=])`, 'i');

/** Longer names are data. */
const MAX_NAME_LENGTH = 100;

const MAX_REMEMBERED = 2_000;
const remembered = new Map<string, boolean>();

/**
 * Whether the value of a member, parameter, header or element with this name is a secret (decision 59). This is the only
 * list of such names. Case does not count, nor does any character that is neither a letter nor a digit.
 */
export function isSecretName(name: string): boolean {
  if (name.length > MAX_NAME_LENGTH) return false;
  let isSecret = remembered.get(name);
  if (isSecret === undefined) {
    isSecret = SECRET.test(name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, ''));
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(name, isSecret);
  }
  return isSecret;
}
