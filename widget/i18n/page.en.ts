/** The texts of the page in English. Russian has the same keys; one that is missing there shows from here. */
import type { Game } from '../../contract/games.ts'
import type { InventoryErrorType, UnavailableReason } from '../../contract/statuses.ts'
import type { PayBlock } from '../flow/selectors.ts'
import type { Sort } from '../flow/state.ts'
import { countEn as count } from './plural.ts'

export type ErrorText = { title: string; description: string }

export const pageEn = {
  sandboxBanner: 'Sandbox: no real items, no real money',
  offline: 'You’re offline. We’ll continue as soon as you’re back online.',
  online: 'The connection is back.',
  support: 'Support',
  language: 'Language',
  depositTo: (storeName: string) => `Deposit to the ${storeName}`,
  addFunds: 'add funds',
  depositFor: 'for',
  loading: 'Loading your deposit…',
  retry: 'Try again',
  close: 'Close',
  notFound: 'Page not found',
  notFoundHint: 'The address may be mistyped or out of date. Start again from the store.',
  paymentNotFound: 'Failed to find your payment',
  paymentNotFoundHint: 'The link may be incomplete or out of date. Go back to the store and start again.',
  paymentNotLoaded: 'We cannot reach the server',
  paymentNotLoadedHint: 'Nothing is lost. Check your connection and try again in a moment.',
  failedToReceiveDeposit: 'failed to receive deposit',

  tradeLink: 'Steam trade link',
  tradeLinkPlaceholder: 'Paste your trade link here',
  tradeLinkWhy: 'It lets our bot send you a trade offer. It gives no access to your account.',
  tradeLinkValid: 'Trade link is valid',
  tradeLinkInvalid: 'This is not a trade link. Copy it whole, from https to the last letter of the token.',
  tradeLinkChecking: 'Checking the link…',
  tradeLinkStored:
    'From your last visit. Nothing has been sent yet. Continue only if you started this payment yourself.',
  tradeLinkContinue: 'Continue with this link',
  tradeLinkClear: 'Clear the link',
  userFailed: 'Failed get user information',
  shopperRefused:
    'This Steam account cannot be used to pay here. Use another account, or go back to the store.',
  otherShopper:
    'This payment is for another Steam account. Use the link of the account with which you signed in to the store.',
  userFailedHint: 'Check the link or try again in a moment.',
  userUncheckedHint: 'We could not check it just now. Your link is kept.',
  userUnavailableHint: 'Steam does not answer just now. Your link is kept.',
  userTooManyHint: 'Too many links were tried here. Your link is kept: wait a few minutes, then try again.',
  cookiesNeeded: 'Your browser blocks the cookie of this page. Allow cookies for this site and reload it.',

  guideTitle: 'Where to find your trade link',
  guideSteps: [
    {
      title: 'Open your trade settings',
      text: 'In Steam: Inventory → Trade Offers → Who can send me Trade Offers?',
    },
    { title: 'Copy the trade URL', text: 'It stands at the bottom of that page, under “Third-Party Sites”.' },
    {
      title: 'Paste it here',
      text: 'We show your name and picture, so you can see it is your account.',
    },
  ],
  guideOpen: 'Open trade settings on Steam',
  guideVideo: 'Watch how to find it (video)',
  itemConditions:
    'Items count when they are worth more than 0.1 USD, popular among players, and free of trade restrictions.',

  game: 'Game',
  games: { cs: 'CS2', dota: 'Dota 2', rust: 'Rust', tf: 'TF2' } satisfies Record<Game, string>,
  search: 'Search items',
  searchOpen: 'Open search',
  searchClose: 'Close search',
  sort: 'Sort',
  sorts: {
    default: 'Newest first',
    priceDown: 'Price: high to low',
    priceUp: 'Price: low to high',
  } satisfies Record<Sort, string>,
  reload: 'Reload the inventory',
  inventory: 'Inventory',
  inventoryLoading: 'Loading your items from Steam…',
  nothingFound: 'No item has such a name',
  nothingUsable: 'None of your items can be used here',
  nothingUsableHint: 'Choose another game, or look below why the items do not count.',
  itemAge: (seconds: number) => `Inventory as of ${count(seconds, 'second', 'seconds')} ago`,
  unavailable: (n: number) => `${count(n, 'more item', 'more items')} can’t be used`,
  why: 'why?',
  unavailableReasons: {
    notTradable: 'cannot be traded',
    tradeHold: 'are held by Steam for now',
    tradeProtected: 'are under Steam’s trade protection',
    stack: 'are stacks: only single items are taken',
    unknownItem: 'are not described by Steam',
    notMarketable: 'cannot be sold on Steam’s market',
    noOwnPrice: 'are unusual or not usable in crafting: they have no price of their own',
    noPrice: 'have no reliable price now',
    notPopular: 'are too rarely sold',
    tooCheap: 'are worth 0.1 USD or less',
    inAnotherTrade: 'are in another trade',
  } satisfies Record<UnavailableReason, string>,
  firstFree: (date: string) => `Steam lets go of the first of them on ${date}.`,
  wear: {
    WearCategory0: ['FN', 'Factory New'],
    WearCategory1: ['MW', 'Minimal Wear'],
    WearCategory2: ['FT', 'Field-Tested'],
    WearCategory3: ['WW', 'Well-Worn'],
    WearCategory4: ['BS', 'Battle-Scarred'],
  },
  selectedMark: 'selected',

  summary: 'Your payment',
  minimum: 'Minimum',
  selected: 'Selected',
  selectedCount: (n: number) => `Selected: ${n}`,
  total: 'Total',
  pay: 'Add funds',
  clear: 'Clear',
  clearAll: 'Clear the selection',
  removeItem: (name: string) => `Remove ${name}`,
  pickItems: 'Pick the items you want to pay with.',
  payAmount: (amount: string) => `Add funds · ${amount}`,
  payMissing: (amount: string) => `Add ${amount} more`,
  payTooMuch: (amount: string) => `Remove ${amount}`,
  now: 'Now',
  nowAtLeast: 'Now, at least',
  onDay: (day: string) => `On ${day}`,
  whyLater: (days: number, game: string) =>
    `Steam lets trades in ${game} be reversed for ${count(days, 'day', 'days')}, so the store gets this part afterwards. You see the amounts again before you accept.`,
  target: 'To pay',
  targetReached: (have: string, wanted: string) => `${have} of ${wanted}`,
  announceSelection: (n: number, total: string) => `${n} selected, ${total}`,
  payBlocks: {
    loading: () => 'The inventory is loading.',
    noItems: (limit: string) => `Pick items for at least ${limit}.`,
    belowMinimum: (limit: string) => `The minimum payment is ${limit}. Add more items.`,
    aboveMaximum: (limit: string) => `This deposit takes at most ${limit}. Remove some items.`,
  } satisfies Record<PayBlock, (limit: string) => string>,
  tooManyItems: 'You have chosen too many items to trade',
  offerWaiting: 'Your trade offer is waiting on Steam.',
  offerReturn: 'Back to the offer',
  offerTimeLeft: (time: string) => `${time} left`,
  technicalWorksOnPage:
    'Technical works: new trades are paused and your time stands still. Your items are safe. This notice disappears when they are over.',
  offerNumber: (id: string) => `Steam offer ${id}`,

  inventoryErrors: {
    internal: {
      title: 'Failed to get your inventory',
      description: 'Try again later or contact support. Your items are safe.',
    },
    tradeNotAvailable: {
      title: 'Trade is not available',
      description: 'There are no items to trade; probably you do not own this game.',
    },
    hidden: {
      title: 'Your inventory is hidden',
      description: 'In Steam’s privacy settings switch “Inventory” to Open (Public), then try again.',
    },
    escrow: {
      title: 'Trade restrictions',
      description:
        'Your account has not been protected by the mobile authenticator for 7 days, so Steam would delay the transfer. Come back when the 7 days are over.',
    },
    invalidPartner: {
      title: 'Incorrect Trade URL',
      description: 'Steam does not accept this link any more. Copy the current one from your trade settings.',
    },
    engineeringWorks: {
      title: 'Technical works',
      description:
        'Steam or our bots are out of reach for a moment. Your items are safe; try again in a few minutes.',
    },
    tooManyLooks: {
      title: 'Steam was asked too often',
      description:
        'This page has looked at Steam too many times. Your items are safe; wait a few minutes, then try again.',
    },
  } satisfies Record<InventoryErrorType | 'tooManyLooks', ErrorText>,

  toastTypes: { info: 'Notice', success: 'Done', warning: 'Warning', error: 'Error' },
  toasts: 'Messages',
}

export type PageTexts = typeof pageEn
