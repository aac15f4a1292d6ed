import { change, type PageProps } from '../client/address.js';
import { Options } from '../parts/forms.js';
import { browserZone, isZone } from './zone.rules.js';

/** The zone of the address, or that of the browser. */
export function zoneOf(query: URLSearchParams): string {
  const zone = query.get('zone');
  return zone !== null && isZone(zone) ? zone : browserZone();
}

/** All times of the page are shown in this zone: that of the browser, UTC, or the one of the site. */
export function ZoneChoice({ query }: PageProps) {
  const zone = zoneOf(query);
  const first = [...new Set([browserZone(), 'UTC', zone])];
  const others = Intl.supportedValuesOf('timeZone').filter((each) => !first.includes(each));
  return (
    <label class="field zone">
      <span>Time zone</span>
      <select value={zone} onChange={(event) => change({ zone: event.currentTarget.value }, { replace: true })}>
        <Options choices={first.map((each) => [each, each === browserZone() ? `${each} (this browser)` : each])} />
        <optgroup label="Zone of the site">
          <Options choices={others} />
        </optgroup>
      </select>
    </label>
  );
}
