import { expect, it } from 'vitest'
import { nameOfPage } from './pages.tsx'

it.each([
  ['/', 'Overview'],
  ['/deposits', 'Deposits'],
  ['/deposits/17', 'Deposits'],
  ['/find', 'Find'],
  ['/reports/3', 'Report'],
  ['/nothing', 'No such page'],
  ['/storesfront', 'No such page'],
])('the page at %s is named %s in the title of its tab', (path, name) => {
  expect(nameOfPage(path)).toBe(name)
})
