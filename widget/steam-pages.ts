/** Pages of Steam where a shopper can solve a problem that blocks a payment. */
export const STEAM_PAGES = {
  privacy: 'https://steamcommunity.com/my/edit/settings',
  guard: 'https://store.steampowered.com/twofactor/manage',
  tradeSettings: 'https://steamcommunity.com/my/tradeoffers/privacy',
  offers: 'https://steamcommunity.com/my/tradeoffers',
  restrictions: 'https://help.steampowered.com/faqs/view/451E-96B3-D194-50FC',
} as const

export type SteamPage = keyof typeof STEAM_PAGES

/**
 * Returns the address of a page. `sandbox`: the address of the Steam sandbox, which has these pages at the same paths,
 * except `restrictions`.
 */
export function steamPage(to: SteamPage, sandbox: string | undefined): string {
  const page = STEAM_PAGES[to]
  return sandbox === undefined || to === 'restrictions' ? page : sandbox + new URL(page).pathname
}
