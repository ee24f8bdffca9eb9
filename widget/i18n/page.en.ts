/** The texts of the page in English. Russian has the same keys; one that is missing there shows from here. */
import type { Mistake } from '../link/pasted.ts'
import type { SteamPage } from '../steam-pages.ts'

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
  inventoryLoading: 'Loading your items from Steam…',
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
  itemsFailed: 'Your items could not be shown. Nothing was sent and nothing is lost: reload the page.',
  guideFailed: 'The guide could not be loaded. You can paste your trade link, or reload the page.',
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
  paste: 'Paste',
  change: 'Change',
  tradeLinkChange: 'Change the trade link',
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

  steamPages: {
    privacy: 'Open privacy settings on Steam',
    guard: 'Set up Steam Guard',
    tradeSettings: 'Open trade settings on Steam',
    offers: 'Open your trade offers on Steam',
    restrictions: 'See what Steam restricts',
  } satisfies Record<SteamPage, string>,
  backToStore: 'Back to the store',
  itemConditions:
    'We accept items worth more than 0.1 USD that are popular among players and free of trade restrictions.',

  why: 'why?',

  now: 'Now',
  nowExpected: 'Now, expected',
  nowAtLeast: 'Now, at least',
  onDay: (day: string) => `On ${day}`,
  tooManyItems: 'You have chosen too many items to trade',
  offerWaiting: 'Your trade offer is waiting on Steam.',
  offerReturn: 'Back to the offer',
  offerBeingMade: 'Your trade offer is still being made. Nothing has left your inventory.',
  offerShow: 'Show it',
  offerTimeLeft: (time: string) => `${time} left`,
  technicalWorksOnPage:
    'Technical works: new trades are paused and your timer is stopped. Your items are safe. This notice disappears when we’re done.',
  offerNumber: (id: string) => `Steam offer ${id}`,

  toastTypes: { info: 'Notice', success: 'Done', warning: 'Warning', error: 'Error' },
  toasts: 'Messages',
}

export type PageTexts = typeof pageEn
