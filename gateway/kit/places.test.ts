import { expect, test } from 'vitest'
import { createPlaces } from './places.ts'

test('each key has its own places, and a freed one can be taken again', () => {
  const places = createPlaces(2)
  expect(['a', 'a', 'a', 'b'].map(places.take)).toEqual([true, true, false, true])
  places.free('a')
  expect(['a', 'a', 'b', 'b'].map(places.take)).toEqual([true, false, true, false])
})
