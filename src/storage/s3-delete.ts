import { DeleteObjectCommand, DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { deleteEach, type DeleteFailures } from './delete-each.js';
import { type S3Place, SHORT, statusOf, viaS3 } from './s3-client.js';
import { safeName } from './storage.js';
import { StorageUnavailableError } from './storage-errors.js';

/** What S3 deletes in one call. */
const KEYS_PER_CALL = 1_000;

/** A server answers one of these to a call that it does not know, or whose checksum it does not know. */
const NOT_KNOWN = new Set([400, 405, 411, 501]);

export async function deleteObject({ client, bucket, prefix }: S3Place, name: string): Promise<void> {
  const at = { Bucket: bucket, Key: prefix + safeName(name) };
  await viaS3(() => client.send(new DeleteObjectCommand(at), SHORT));
}

/** A call for up to 1,000 objects, or one for each where the server has no such call. */
export async function deleteObjects(place: S3Place, names: readonly string[]): Promise<DeleteFailures> {
  const failures = new Map<string, Error>();
  for (let first = 0; first < names.length; first += KEYS_PER_CALL) {
    const some = names.slice(first, first + KEYS_PER_CALL);
    for (const [name, error] of await deleteSome(place, some)) failures.set(name, error);
  }
  return failures;
}

async function deleteSome(place: S3Place, names: readonly string[]): Promise<DeleteFailures> {
  const { client, bucket, prefix } = place;
  const byKey = new Map(names.map((name) => [prefix + safeName(name), name]));
  const Delete = { Objects: [...byKey.keys()].map((Key) => ({ Key })), Quiet: true };
  const answer = await viaS3(() =>
    client.send(new DeleteObjectsCommand({ Bucket: bucket, Delete }), SHORT).catch((error: unknown) => {
      if (!NOT_KNOWN.has(statusOf(error) ?? 0)) throw error;
      return undefined;
    }),
  );
  if (answer === undefined) return deleteEach(names, (name) => deleteObject(place, name));
  const failures = new Map<string, Error>();
  for (const { Key = '', Code = 'no reason' } of answer.Errors ?? []) {
    const name = byKey.get(Key);
    if (name === undefined || Code === 'NoSuchKey') continue;
    failures.set(name, new StorageUnavailableError('failed', `The video storage (S3) did not delete a file: ${Code}.`));
  }
  return failures;
}
