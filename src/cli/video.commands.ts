import { Command } from 'commander';
import { CoverageQuery, RecordingQuery } from '../contracts/admin/recording.dto.js';
import { OrderVideoRequest, VideoRequestQuery } from '../contracts/admin/video-request.dto.js';
import { VisionFindingQuery } from '../contracts/admin/vision-finding.dto.js';
import { FindingQueries } from '../vision/finding.queries.js';
import { HostedRecordings } from '../vision/hosted/recordings.service.js';
import { CoverageService } from '../vision/recordings/coverage.service.js';
import { RecordingQueries } from '../vision/recordings/recording.queries.js';
import { Retention } from '../vision/recordings/retention.js';
import { VideoRequestQueries } from '../vision/requests/video-request.queries.js';
import { VideoRequests } from '../vision/requests/video-requests.service.js';
import type { CommandGroup } from './command-line.js';
import { idOf, readInput } from './input.js';
import { importFolder } from './recording-import.js';

export const videoRequestCommands: CommandGroup = (action) => {
  const request = new Command('video-request').description("on-demand video of trucks' cameras");
  request
    .command('create')
    .description('request a clip; a running service asks the partner and fetches it')
    .requiredOption('--connection-id <uuid>', 'vision connection to the partner')
    .requiredOption('--truck-id <text>', 'truck')
    .requiredOption('--camera-id <text>', 'camera: placement or number')
    .requiredOption('--start-time <time>', 'start of the range, such as 2026-01-31T08:30:00Z')
    .requiredOption('--end-time <time>', 'end of the range')
    .action(
      action((services, options: object) => services.get(VideoRequests).order(readInput(OrderVideoRequest, options))),
    );
  request
    .command('list')
    .description('list requests, newest first')
    .option('--connection-id <uuid>', 'requests of this connection only')
    .option('--truck-id <text>', 'requests of this truck only')
    .option('--status <state>', 'requests that stand there only')
    .option('--page <number>', 'page, from 1')
    .option('--page-size <number>', 'requests a page, 1 to 100')
    .action(
      action((services, options: object) =>
        services.get(VideoRequestQueries).list(readInput(VideoRequestQuery, options)),
      ),
    );
  request
    .command('show')
    .description('show a request with its parts')
    .argument('<id>', 'id of the request')
    .action(action((services, id: string) => services.get(VideoRequestQueries).get(idOf(id))));
  return request;
};

export const recordingCommands: CommandGroup = (action) => {
  const recording = new Command('recording').description(
    'video that came from partners, and films for the partner side',
  );
  recording
    .command('list')
    .description('list the recordings that came from partners, the latest start first')
    .option('--connection-id <uuid>', 'recordings of this connection only')
    .option('--truck-id <text>', 'recordings of this truck only')
    .option('--camera-id <text>', 'recordings of this camera only')
    .option('--source <source>', 'on-demand or continuous')
    .option('--status <state>', 'recordings that stand there only')
    .option('--from <time>', 'that start then or later')
    .option('--to <time>', 'that start before')
    .option('--page <number>', 'page, from 1')
    .option('--page-size <number>', 'recordings a page, 1 to 100')
    .action(
      action((services, options: object) => services.get(RecordingQueries).list(readInput(RecordingQuery, options))),
    );
  recording
    .command('show')
    .description('show a recording')
    .argument('<id>', 'id of the recording')
    .action(action((services, id: string) => services.get(RecordingQueries).get(idOf(id))));
  recording
    .command('import')
    .description('import a folder of MP4 films into the partner side')
    .argument('<folder>', 'films named by their start, such as 2026-01-31T08-30-00Z.mp4, or following one another')
    .requiredOption('--customer-id <text>', 'customer')
    .requiredOption('--truck-id <text>', 'truck')
    .requiredOption('--camera-id <text>', 'camera: placement or number')
    .option('--start-time <time>', 'when the first film began, where its name does not say so')
    .action(
      action((services, folder: string, options: object) =>
        importFolder(services.get(HostedRecordings), folder, options),
      ),
    );
  return recording;
};

export const retentionCommands: CommandGroup = (action) => {
  const retention = new Command('retention').description('deletion of stored video by age (VIDEO_RETENTION_DAYS)');
  retention
    .command('run')
    .description('delete what is older, at once; a running service does so every hour')
    .option('--dry-run', 'only tell how much it would be')
    .action(
      action((services, { dryRun }: { dryRun?: boolean }) => services.get(Retention).run({ dryRun: dryRun === true })),
    );
  return retention;
};

export const coverageCommands: CommandGroup = (action) => {
  const coverage = new Command('coverage').description("what there is of trucks' recordings, and why not more");
  coverage
    .command('show')
    .description('show what is stored, available, missing or expired at each moment, camera by camera')
    .requiredOption('--connection-id <uuid>', 'vision connection that the recordings come through')
    .requiredOption('--truck-id <text>', 'truck, as the partner names it')
    .requiredOption('--from <time>', 'start of the time, such as 2026-01-31T00:00:00Z')
    .requiredOption('--to <time>', 'end of the time; at most 31 days later')
    .option('--camera-id <text>', 'this camera only: placement or number')
    .action(action((services, options: object) => services.get(CoverageService).of(readInput(CoverageQuery, options))));
  return coverage;
};

export const visionFindingCommands: CommandGroup = (action) => {
  const finding = new Command('vision-finding').description("what partners' video lists had wrong");
  finding
    .command('list')
    .description('list findings, the latest first seen first')
    .option('--hauler-id <uuid>', 'findings of this hauler only')
    .option('--connection-id <uuid>', 'findings of this connection only')
    .option('--from <time>', 'first seen then or later')
    .option('--to <time>', 'first seen before')
    .option('--page <number>', 'page, from 1')
    .option('--page-size <number>', 'findings a page, 1 to 100')
    .action(
      action((services, options: object) => services.get(FindingQueries).list(readInput(VisionFindingQuery, options))),
    );
  return finding;
};
