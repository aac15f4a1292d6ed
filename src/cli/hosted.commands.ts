import { readFile, stat } from 'node:fs/promises';
import { Command } from 'commander';
import { HOSTED_SITE_DATA_MAX_BYTES, HostedHaulerParam } from '../contracts/admin/hosted-site-data.dto.js';
import { HostedCamera, HostedVideoRequestQuery } from '../contracts/admin/hosted-vision.dto.js';
import { HostedSiteData } from '../site-sync/hosted/site-data.service.js';
import { HostedCameras } from '../vision/hosted/cameras.js';
import { HostedVideoRequests } from '../vision/hosted/video-requests.store.js';
import { CommandFailed } from './command-failed.js';
import type { CommandGroup } from './command-line.js';
import { readInput } from './input.js';

export const hostedCameraCommands: CommandGroup = (action) => {
  const camera = new Command('hosted-camera').description("names of the partner side's cameras");
  camera
    .command('set')
    .description('tell the other names of a camera, in place of those that it had')
    .requiredOption('--customer-id <text>', 'customer')
    .requiredOption('--truck-id <text>', 'truck')
    .requiredOption('--camera-id <text>', 'camera, by the name that answers use')
    .requiredOption('--aliases <names...>', "its other names; '' if it has none", andName)
    .action(action((services, options: object) => services.get(HostedCameras).put(readInput(HostedCamera, options))));
  return camera;
};

/** A name may have a comma in it, but is not empty. */
const andName = (name: string, names: string[] = []): string[] => (name === '' ? names : [...names, name]);

export const hostedVideoRequestCommands: CommandGroup = (action) => {
  const request = new Command('hosted-video-request').description('clips that were asked of the partner side');
  request
    .command('list')
    .description('list requests with what came of them, newest first')
    .option('--status <state>', 'processing, ready or failed')
    .option('--page <number>', 'page, from 1')
    .option('--page-size <number>', 'requests a page, 1 to 100')
    .action(
      action((services, options: object) =>
        services.get(HostedVideoRequests).list(readInput(HostedVideoRequestQuery, options)),
      ),
    );
  return request;
};

export const hostedSiteDataCommands: CommandGroup = (action) => {
  const siteData = new Command('hosted-site-data').description(
    "haulers' sites, kiosks and materials on the partner side",
  );
  siteData
    .command('replace')
    .description("replace a hauler's data as a whole; where a record is wrong, nothing changes")
    .argument('<file>', 'JSON file: { "sites": [...], "kiosks": [...], "materials": [...] }')
    .requiredOption('--hauler-id <uuid>', 'hauler; any id')
    .action(
      action(async (services, file: string, options: object) => {
        const { haulerId } = readInput(HostedHaulerParam, options);
        return services.get(HostedSiteData).replace(haulerId, await contentOf(file));
      }),
    );
  return siteData;
};

async function contentOf(file: string): Promise<Buffer> {
  try {
    const { size } = await stat(file);
    if (size <= HOSTED_SITE_DATA_MAX_BYTES) return await readFile(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandFailed(`${file} cannot be read: ${code ?? message}`);
  }
  throw new CommandFailed(`${file} is larger than ${HOSTED_SITE_DATA_MAX_BYTES} bytes`);
}
