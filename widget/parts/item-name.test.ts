import { expect, it } from 'vitest'
import { shownName } from './item-name.ts'

const worn = { wearCategory: 'WearCategory2', isStatTrak: false } as const
const unmarked = { wearCategory: null, isStatTrak: false } as const
const wornStatTrak = { wearCategory: 'WearCategory2', isStatTrak: true } as const

it.each([
  ['AK-47 | Redline (Field-Tested)', worn, 'AK-47', 'Redline'],
  ['StatTrak™ AK-47 | Redline (Field-Tested)', wornStatTrak, 'AK-47', 'Redline'],
  ['★ StatTrak™ Karambit | Doppler (Factory New)', wornStatTrak, '★ Karambit', 'Doppler'],
  ['AWP | 二西莫夫（Азимов） (После полевых испытаний)', worn, 'AWP', '二西莫夫（Азимов）'],
  ['★ Bayonet (Well-Worn)', worn, null, '★ Bayonet'],
  ['Sticker | Crown (Foil)', unmarked, 'Sticker', 'Crown (Foil)'],
  ['StatTrak™ Swap Tool', unmarked, null, 'StatTrak™ Swap Tool'],
  ['Sealed Graffiti | Sorry | Green', unmarked, 'Sealed Graffiti', 'Sorry | Green'],
  [' | ', unmarked, null, ' | '],
  ['', unmarked, null, ''],
  ['(Field-Tested)', worn, null, '(Field-Tested)'],
] as const)(
  'the name %j is shown without the wear and the StatTrak that are shown beside it, unless nothing would be left',
  (name, marks, thing, shown) => {
    expect(shownName({ name, ...marks })).toEqual({ thing, name: shown })
  },
)
