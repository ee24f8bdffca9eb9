export const CURRENCIES = ['USD', 'EUR', 'BRL'] as const
export type Currency = (typeof CURRENCIES)[number]

/**
 * static/goods.svg has the picture for each `id`, and ember.css the colour for each `tint`. Prices are in minor units.
 */
export type Good = { id: string; name: string; tint: number } & Record<Currency, number>

type Line = [id: string, name: string, tint: number, prices: [usd: number, eur: number, brl: number]]

const good = ([id, name, tint, [USD, EUR, BRL]]: Line): Good => ({ id, name, tint, USD, EUR, BRL })

export const GOODS: readonly Good[] = [
  good(['pass', 'Season pass', 3, [1_499, 1_399, 7_990]]),
  good(['gems', '500 embers', 6, [499, 469, 2_690]]),
  good(['blade', 'Ashen blade', 2, [2_250, 2_090, 11_990]]),
  good(['drake', 'Young drake', 5, [3_999, 3_699, 21_900]]),
  good(['cape', 'Cinder cape', 4, [850, 799, 4_490]]),
  good(['chest', 'Forge chest', 7, [350, 329, 1_890]]),
  good(['potion', 'Draught of haste', 1, [300, 279, 1_590]]),
  good(['anvil', 'Anvil for the hall', 0, [6_500, 5_990, 34_900]]),
]

/** Quantities by the good's id. */
export type Cart = Record<string, number>

export const totalOf = (cart: Cart, currency: Currency): number =>
  GOODS.reduce((sum, each) => sum + each[currency] * (cart[each.id] ?? 0), 0)
