import { useLoad } from '../../client/load.js';
import { Loadable } from '../../parts/states.js';
import { sentenceOf } from './coverage-sentence.rules.js';

const LIVE_MS = 30_000;

interface CameraSentencesProps {
  /** The truck and the time, for the call. */
  readonly range: Readonly<Record<'connectionId' | 'truckId' | 'from' | 'to', string>>;
  readonly zone: string;
}

/** What is missing of each camera, why and whose part it is: the worst camera first. */
export function CameraSentences({ range, zone }: CameraSentencesProps) {
  const summary = useLoad('/coverage/summary', range, LIVE_MS);
  const at = (time: string) =>
    new Date(time).toLocaleString(undefined, { timeZone: zone, dateStyle: 'medium', timeStyle: 'short' });
  return (
    <Loadable of={summary}>
      {({ data }) => (
        <ul class="cameras" aria-label="Cameras">
          {data.map((camera) => {
            const { text, sides, isBad } = sentenceOf(camera, at);
            return (
              <li key={camera.cameraId ?? ''} class={isBad ? 'bad' : ''}>
                {text} {sides !== '' && <span class="hint">{sides}</span>}
              </li>
            );
          })}
        </ul>
      )}
    </Loadable>
  );
}
