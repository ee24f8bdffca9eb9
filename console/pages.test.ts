import { expect, it, vi } from 'vitest'

// While it loads, place.ts adds a listener to the window, which this test does not have.
vi.stubGlobal('addEventListener', () => {})
const { nameOfPage } = await import('./pages.tsx')
vi.unstubAllGlobals()

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
