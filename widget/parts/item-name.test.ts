import { expect, it } from 'vitest'
import { shownName } from './item-name.ts'

const worn = { wearCategory: 'WearCategory2', isStatTrak: false } as const
const plain = { wearCategory: null, isStatTrak: false } as const
const counted = { wearCategory: 'WearCategory2', isStatTrak: true } as const

it.each([
  ['AK-47 | Redline (Field-Tested)', worn, 'AK-47', 'Redline'],
  ['StatTrak™ AK-47 | Redline (Field-Tested)', counted, 'AK-47', 'Redline'],
  ['★ StatTrak™ Karambit | Doppler (Factory New)', counted, '★ Karambit', 'Doppler'],
  ['AWP | 二西莫夫（Азимов） (После полевых испытаний)', worn, 'AWP', '二西莫夫（Азимов）'],
  ['★ Bayonet (Well-Worn)', worn, null, '★ Bayonet'],
  ['Sticker | Crown (Foil)', plain, 'Sticker', 'Crown (Foil)'],
  ['StatTrak™ Swap Tool', plain, null, 'StatTrak™ Swap Tool'],
  ['Sealed Graffiti | Sorry | Green', plain, 'Sealed Graffiti', 'Sorry | Green'],
  [' | ', plain, null, ' | '],
  ['', plain, null, ''],
  ['(Field-Tested)', worn, null, '(Field-Tested)'],
] as const)('%s is shown without repetition', (name, marks, thing, shown) => {
  expect(shownName({ name, ...marks })).toEqual({ thing, name: shown })
})
