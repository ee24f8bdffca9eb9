import { expect, it } from 'vitest'
import { inventory } from '../flow/test-states.ts'
import { markup } from '../test-markup.tsx'
import { Age } from './age.tsx'

it.each([
  [0, ''],
  [119, ''],
  [120, '<p class="inventory-age">Inventory from 2 minutes ago</p>'],
  [239, '<p class="inventory-age">Inventory from 3 minutes ago</p>'],
])('an inventory that is %d seconds old shows its age as %j', (ageSeconds, shownText) => {
  expect(markup(<Age inventory={inventory([], { ageSeconds })} />)).toBe(shownText)
})
