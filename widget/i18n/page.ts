/**
 * The texts of the first view: until the field for the trade link appears, and around that field. The requirements fix
 * “Deposit to the”, “add funds” and “Page not found”.
 */
import type { Language } from '../../contract/languages.ts'

const en = {
  sandboxBanner: 'Test mode – no real items or money',
  support: 'Support',
  language: 'Language',
  depositTo: (storeName: string) => `Deposit to the ${storeName}`,
  addFunds: 'add funds',
  depositFor: 'for',
  loading: 'Loading your deposit…',
  inventoryLoading: 'Loading your items from Steam… This can take a few seconds.',
  notFound: 'Page not found',
  notFoundHint: 'The address may be mistyped or out of date. Start again from the store.',
  crashHint:
    'Something went wrong here. Nothing is lost: a payment you started goes on, and your items are safe. Reload the page.',
  reloadPage: 'Reload the page',
  tradeLink: 'Steam trade link',
  tradeLinkPlaceholder: 'Paste your trade link here',
  tradeLinkWhy: 'Only lets our bot send you an offer. It can’t log in or take items.',
  tradeLinkChecking: 'Checking the link…',
  tradeLinkStored:
    'From your last visit. Nothing has been sent yet. Continue only if you started this payment yourself.',
  tradeLinkContinue: 'Continue with this link',
  tradeLinkClear: 'Clear the link',
  paste: 'Paste',
  /** Shown in place of a part whose code failed to load. */
  partFailed: 'Part of this page could not be loaded. Nothing is lost: reload the page.',
  tradeSettings: 'Open trade settings on Steam',
}

export type PageTexts = typeof en

const ru: PageTexts = {
  sandboxBanner: 'Тестовый режим: всё ненастоящее',
  support: 'Поддержка',
  language: 'Язык',
  depositTo: (storeName) => `Пополнение баланса ${storeName}`,
  addFunds: 'внести средства',
  depositFor: 'для',
  loading: 'Загружаем пополнение…',
  inventoryLoading: 'Загружаем предметы из Steam… Это может занять несколько секунд.',
  notFound: 'Страница не найдена',
  notFoundHint: 'Возможно, адрес введён с ошибкой или устарел. Начните заново в магазине.',
  crashHint:
    'На странице произошла ошибка. Ничего не потеряно: начатый платёж продолжается, предметы в безопасности. Обновите страницу.',
  reloadPage: 'Обновить страницу',
  tradeLink: 'Ссылка на обмен Steam',
  tradeLinkPlaceholder: 'Вставьте сюда ссылку на обмен',
  tradeLinkWhy: 'По ней бот может только отправить предложение: войти или забрать предметы нельзя.',
  tradeLinkChecking: 'Проверяем ссылку…',
  tradeLinkStored:
    'С вашего прошлого визита. Пока ничего не отправлено. Продолжайте, только если сами начали этот платёж.',
  tradeLinkContinue: 'Продолжить с этой ссылкой',
  tradeLinkClear: 'Очистить ссылку',
  paste: 'Вставить',
  partFailed: 'Часть страницы не загрузилась. Ничего не потеряно: обновите страницу.',
  tradeSettings: 'Открыть настройки обмена в Steam',
}

export const pageTexts: Record<Language, PageTexts> = { en, ru }
