/** The texts of the page in English. Russian has the same keys; one that is missing there shows from here. */
import type { Game } from '../../contract/games.ts'
import type { UnavailableReason } from '../../contract/statuses.ts'
import type { PayBlock } from '../flow/selectors.ts'
import type { InventoryFailure, Sort } from '../flow/state.ts'
import type { Mistake } from '../link/pasted.ts'
import type { SteamPage } from '../steam-pages.ts'
import { countEn as count } from './plural.ts'

export type ErrorText = { title: string; description: string }

export const pageEn = {
  sandboxBanner: 'Test mode – no real items or money',
  offline: 'You’re offline. We’ll continue as soon as you’re back online.',
  online: 'The connection is back.',
  support: 'Support',
  language: 'Language',
  depositTo: (storeName: string) => `Deposit to the ${storeName}`,
  addFunds: 'add funds',
  depositFor: 'for',
  loading: 'Loading your deposit…',
  retry: 'Try again',
  tabTitles: {
    created: 'Add funds',
    creating: 'Sending the offer',
    pending: 'Accept on Steam',
    succeeded: '✓ Received',
    ended: 'Not completed',
  },
  close: 'Close',
  closeQuestion: 'The trade offer stays open on Steam. Close the payment anyway?',
  notFound: 'Page not found',
  notFoundHint: 'The address may be mistyped or out of date. Start again from the store.',
  paymentNotFound: 'Failed to find your payment',
  paymentNotFoundHint: 'The link may be incomplete or out of date. Go back to the store and start again.',
  paymentNotLoaded: 'We can’t reach the server',
  paymentNotLoadedHint: 'Nothing is lost. Check your connection: this page keeps trying.',
  paymentBusy: 'We can’t show your payment right now',
  paymentBusyHint: 'Our server is having trouble. Nothing is lost: this page tries again automatically.',
  goBack: 'Back to where you came from',
  partLoading: 'Loading the next step…',
  partFailed: 'The next step could not be loaded, so nothing was sent. Reload the page, then pay.',
  partFailedLater:
    'This step could not be loaded. Your payment goes on and your items are safe: reload the page.',
  reloadPage: 'Reload the page',
  failedToReceiveDeposit: 'failed to receive deposit',

  tradeLink: 'Steam trade link',
  tradeLinkPlaceholder: 'Paste your trade link here',
  tradeLinkWhy: 'Only lets our bot send you an offer. It can’t log in or take items.',
  tradeLinkValid: 'Trade link is valid',
  tradeLinkMistakes: {
    profile:
      'That’s a link to your profile. Your trade link is in Steam’s trade settings and has “partner” and “token” in it.',
    offer: 'That’s a link to one trade offer. Your own trade link is in Steam’s trade settings.',
    unfinished: 'That’s not a complete trade link. Copy it again, up to the last letter after “token=”.',
    several: 'There are several trade links here. Leave only your own.',
    around: 'Only the link belongs here, as Steam gives it: from https:// to the last letter after “token=”.',
    other:
      'That’s not a trade link. It looks like https://steamcommunity.com/tradeoffer/new/?partner=…&token=…',
  } satisfies Record<Mistake, string>,
  tradeLinkStale: 'This link has expired. Paste the new one here.',
  tradeLinkChecking: 'Checking the link…',
  tradeLinkStored:
    'From your last visit. Nothing has been sent yet. Continue only if you started this payment yourself.',
  tradeLinkContinue: 'Continue with this link',
  tradeLinkClear: 'Clear the link',
  userFailed: 'Failed get user information',
  linkOfOpenOffer:
    'An offer to the other account is still open, so the link can’t be changed now. Nothing was changed: go back to the offer, or decline it in Steam first.',
  shopperRefused:
    'This Steam account can’t be used to pay here. Use another account, or go back to the store.',
  otherShopper:
    'This payment is for another Steam account. Use the trade link of the account you use in the store.',
  userFailedHint: 'Check the link or try again in a moment.',
  userUncheckedHint: 'We couldn’t check it right now. We’ve kept your link.',
  userUnavailableHint: 'Steam isn’t responding right now. We’ve kept your link.',
  userTooManyHint: 'Too many links were tried here. We’ve kept yours: wait a few minutes, then try again.',
  cookiesNeeded: 'Your browser blocks this page’s cookie. Allow cookies for this site, then reload the page.',

  guideTitle: 'Where to find your trade link',
  guideSteps: [
    {
      title: 'Open your trade settings',
      text: 'Open Steam → Inventory → Trade Offers → “Who can send me Trade Offers?”',
    },
    {
      title: 'Copy the trade URL',
      text: 'You’ll find it at the bottom of that page, under “Third-Party Sites”.',
    },
    {
      title: 'Paste it here',
      text: 'We’ll show your name and avatar so you can check it’s you.',
    },
  ],
  steamPages: {
    privacy: 'Open privacy settings on Steam',
    guard: 'Set up Steam Guard',
    tradeSettings: 'Open trade settings on Steam',
    offers: 'Open your trade offers on Steam',
    restrictions: 'See what Steam restricts',
  } satisfies Record<SteamPage, string>,
  backToStore: 'Back to the store',
  guideVideo: 'Watch how to find it (video)',
  guideClipNote:
    'No sound. The same steps are written below. Recorded in a test environment: Steam’s own pages look a little different.',
  itemConditions:
    'We accept items worth more than 0.1 USD that are popular among players and free of trade restrictions.',

  game: 'Game',
  games: { cs: 'CS2', dota: 'Dota 2', rust: 'Rust', tf: 'TF2' } satisfies Record<Game, string>,
  onlyGames: (games: string) => `This store accepts only items from ${games} here.`,
  kept: (picks: string) => `Your picks are kept: ${picks}. One payment takes items of one game.`,
  keptIn: (n: number, game: string) => `${n} in ${game}`,
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
  nothingFound: 'No items match your search',
  searchClear: 'Clear the search',
  nothingUsable: 'None of these items can be used',
  nothingUsableHint: 'Choose another game, or see below why these can’t be used.',
  nothingUsableHere: 'See below why. You can pay another way in the store.',
  gameCount: (game: string, n: number) => `${game}: ${count(n, 'item', 'items')}`,
  itemAge: (seconds: number) => `Inventory as of ${count(seconds, 'second', 'seconds')} ago`,
  unavailable: (n: number) => `${count(n, 'more item', 'more items')} can’t be used`,
  why: 'why?',
  unavailableReasons: {
    notTradable: 'not tradable',
    tradeHold: 'held by Steam for now',
    tradeProtected: 'under Steam’s trade protection',
    stack: 'in a stack: only single items are taken',
    unknownItem: 'not described by Steam',
    notMarketable: 'not sellable on Steam’s market',
    noOwnPrice: 'unusual or not usable in crafting, so without a price of its own',
    noPrice: 'without a reliable price right now',
    notPopular: 'sold too rarely',
    tooCheap: 'worth 0.1 USD or less',
    inAnotherTrade: 'in another trade',
  } satisfies Record<UnavailableReason, string>,
  firstFree: (date: string) => `The first becomes tradable on ${date}.`,
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
  maximum: 'Maximum',
  selected: 'Selected',
  selectedCount: (n: number) => `Selected: ${n}`,
  total: 'Total',
  pay: 'Add funds',
  clear: 'Clear',
  clearAll: 'Clear the selection',
  removeItem: (name: string) => `Remove ${name}`,
  payAmount: (amount: string) => `Add funds · ${amount}`,
  payMissing: (amount: string) => `Add ${amount} more`,
  payTooMuch: (amount: string) => `Remove ${amount}`,
  now: 'Now',
  nowAtLeast: 'Now, at least',
  onDay: (day: string) => `On ${day}`,
  whyLater: (days: number, game: string) =>
    `Steam lets trades in ${game} be reversed for ${count(days, 'day', 'days')}, so the store gets this part afterwards. You see the amounts again before you accept.`,
  target: 'To pay',
  pickForMe: 'Pick for me',
  pickOpen: 'Pick for me',
  pickItemsFor: (amount: string) => `Pick items for ${amount}`,
  pickAmount: 'Amount',
  pickGo: 'Pick',
  pickHint: 'Items that come closest to an amount.',
  pickSearching: 'Picking…',
  pickExact: 'Picked: exactly this amount.',
  pickOver: (over: string) => `Picked: ${over} more than this amount.`,
  pickShort: (reach: string) => `One offer of your items is worth ${reach} at most.`,
  pickNone: 'No choice of your items stays within the limit.',
  pickTarget: 'Your amount',
  targetReached: (have: string, wanted: string) => `${have} of ${wanted}`,
  announceSelection: (n: number, total: string) => `${n} selected, ${total}`,
  payBlocks: {
    loading: () => 'The inventory is loading.',
    noItems: (limit: string) => `Choose items worth at least ${limit}.`,
    belowMinimum: (limit: string) => `The minimum payment is ${limit}. Add more items.`,
    aboveMaximum: (limit: string) => `That’s over the ${limit} limit. Remove some items.`,
  } satisfies Record<PayBlock, (limit: string) => string>,
  atMost: (limit: string) => `At most ${limit}.`,
  payBack: 'Back to your offer',
  tooManyItems: 'You have chosen too many items to trade',
  offerWaiting: 'Your trade offer is waiting on Steam.',
  offerReturn: 'Back to the offer',
  offerBeingMade: 'Your trade offer is still being made. Nothing has left your inventory.',
  offerShow: 'Show it',
  offerTimeLeft: (time: string) => `${time} left`,
  technicalWorksOnPage:
    'Technical works: new trades are paused and your timer is stopped. Your items are safe. This notice disappears when we’re done.',
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
    accountRestricted: {
      title: 'Trade is not available',
      description:
        'Steam doesn’t let this account trade right now: it may be limited, signed in on a new device, or banned from trading. Your items stay yours.',
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
      description: 'Your trade link has expired. Copy the new one from Steam’s trade settings.',
    },
    engineeringWorks: {
      title: 'Technical works',
      description:
        'Steam or our bots are unavailable right now. Your items are safe; try again in a few minutes.',
    },
    tooManyLooks: {
      title: 'Too many requests to Steam',
      description:
        'This page asked Steam too often. Your items are safe; wait a few minutes, then try again.',
    },
    gameNotAccepted: {
      title: 'The store doesn’t accept this game',
      description: 'Your items are safe. Choose a game that the store accepts.',
    },
  } satisfies Record<InventoryFailure, ErrorText>,

  toastTypes: { info: 'Notice', success: 'Done', warning: 'Warning', error: 'Error' },
  toasts: 'Messages',
}

export type PageTexts = typeof pageEn
