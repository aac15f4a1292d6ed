import { describe, expect, test } from '@jest/globals';
import { camerasOf, type NamePair, namesOf } from '../../../src/vision/recordings/camera-names.rules.js';

const pair = (requested: string, returned: string): NamePair => ({ requested, returned });

describe('the names of one camera (section 2.5a)', () => {
  test.each<[string, string, NamePair[], string[]]>([
    ['no returned name', '1', [], ['1']],
    ['the number, returned as the placement', '1', [pair('1', 'front')], ['1', 'front']],
    ['the placement, requested by the number', 'front', [pair('1', 'front')], ['1', 'front']],
    ['another camera', 'rear', [pair('1', 'front')], ['rear']],
    ['the placement, returned as the number', 'front', [pair('front', '1')], ['1', 'front']],
    ['both names requested', '1', [pair('1', 'front'), pair('front', '1')], ['1', 'front']],
    ['another spelling', 'Front', [pair('Front', 'front')], ['Front', 'front']],
    ['a spelling that was never requested', 'FRONT', [pair('1', 'front')], ['1', 'FRONT', 'front']],
    ['spellings of the returned name', '1', [pair('1', 'front'), pair('1', 'Front')], ['1', 'Front', 'front']],
    ['a partner that ignores the camera', '1', [pair('1', 'front'), pair('1', 'rear')], ['1']],
    ['a name that it returns', 'front', [pair('1', 'front'), pair('1', 'rear')], ['front']],
    ['one camera for two numbers', '1', [pair('1', 'front'), pair('2', 'front')], ['1']],
    ['that camera', 'front', [pair('1', 'front'), pair('2', 'front')], ['front']],
    ['two cameras, one name each', '2', [pair('1', 'front'), pair('2', 'rear')], ['2', 'rear']],
  ])('%s', (_, camera, pairs, names) => expect(namesOf(camera, pairs).sort()).toEqual(names.sort()));

  test('cameras are distinguished by their returned names', () => {
    const pairs = [pair('1', 'front'), pair('3', 'left'), pair('4', 'left')];
    const cameras = camerasOf(['rear', '1', 'front', '3'], pairs);
    expect(cameras.map(({ name, names }) => `${name}: ${[...names].sort().join(' ')}`)).toEqual([
      '3: 3',
      'front: 1 front',
      'rear: rear',
    ]);
  });
});
