import { sampleVideo } from '../../support/sample-video.js';
import { CONTINUOUS, type Element, element, lists } from '../../support/scripted-vision.js';
import type { Plain } from './hauler.js';
import { type ShownRecording, VisionScene } from './vision.js';

const MINUTE_MS = 60_000;
/** The hour before the last two whole hours. */
const FIRST = Math.floor(Date.now() / 3_600_000 - 3) * 3_600_000;

/** The time so many minutes after that hour began, as the service writes it. */
export const minute = (minutes: number): string =>
  new Date(FIRST + minutes * MINUTE_MS).toISOString().replace('.000Z', 'Z');

export interface Chunk {
  /** Minutes from the first hour on. */
  readonly from: number;
  readonly to: number;
  readonly cameraId?: string;
  /** Its link answers 503 for ever. */
  readonly isAway?: boolean;
  readonly fields?: Element;
}

/** What a scripted partner lists of TRUCK-7, whose recordings the service follows. */
export class Footage {
  private readonly listed: Element[] = [];
  private readonly expected: Plain[] = [];
  private isFollowed = false;

  private constructor(readonly vision: VisionScene) {}

  static async create(options: Parameters<typeof VisionScene.create>[0] = {}): Promise<Footage> {
    const footage = new Footage(await VisionScene.create(options));
    footage.vision.partner.on(
      CONTINUOUS,
      lists('recordings', () => footage.listed),
    );
    return footage;
  }

  /** Lists more recordings, and waits until all whose link works are stored. The subscription begins ten minutes before. */
  async add(...chunks: readonly Chunk[]): Promise<ShownRecording[]> {
    const { partner } = this.vision;
    for (const { from, to, cameraId = 'front', isAway = false, fields } of chunks) {
      const file = sampleVideo(1_000);
      const away = partner.link(file, (_, response) => response.writeHead(503).end());
      const times = { startTime: minute(from), endTime: minute(to), durationSeconds: (to - from) * 60 };
      this.listed.push(element({ cameraId, ...times, downloadUrl: isAway ? away : partner.link(file), ...fields }));
      this.expected.push({ status: isAway ? 'available' : 'stored', startTime: minute(from), cameraId });
    }
    if (!this.isFollowed) await this.vision.follow({ startTime: minute(-10) });
    this.isFollowed = true;
    return this.vision.recordingsBecome(this.expected);
  }

  /** Lists one more recording after so many were erased, and waits until it is stored beside those that are left. */
  async addAfterErasure(erased: number, chunk: Chunk): Promise<ShownRecording[]> {
    this.expected.splice(0, erased);
    return this.add(chunk);
  }

  /** What the service has of the truck, by the time and the camera of the recording. */
  async idOf(from: number, cameraId = 'front'): Promise<string> {
    const all = (await this.vision.recordings()) as (ShownRecording & { readonly startTime: string })[];
    const found = all.find((each) => each.cameraId === cameraId && each.startTime === minute(from));
    if (found === undefined) throw new Error(`there is no recording of ${cameraId} from ${minute(from)} on`);
    return found.id;
  }

  /** The connection and the truck, as bodies and queries name them. */
  get truck(): { connectionId: string; truckId: string } {
    return { connectionId: this.vision.connectionId, truckId: 'TRUCK-7' };
  }
}
