// Routes of the pages about people and their rights. Only administrators can open them.

import type { Route } from '../../route.ts';
import { showCollection } from '../environments/collection.ts';
import { listCollections } from '../environments/collections.ts';
import { listEnvironments } from '../environments/environments.ts';
import { changePerson } from '../people/change.ts';
import { invite, showInvite } from '../people/invite.ts';
import { listPeople } from '../people/list.ts';
import { showPerson } from '../people/person.ts';
import { createRole, listRoles } from '../roles/list.ts';
import { changePermission, showPermission } from '../roles/permission.ts';
import { changeRole, showRole } from '../roles/role.ts';
import { createTeam, listTeams } from '../teams/list.ts';
import { changeScope, showScope } from '../teams/scope.ts';
import { changeTeam, showTeam } from '../teams/team.ts';
import { downloadRoles } from './file.ts';
import { answerReview } from './review.ts';

export const rightsRoutes: readonly Route[] = [
  { page: '/people', open: false, admin: true, get: listPeople },
  { page: '/people/new', open: false, admin: true, get: showInvite, post: invite },
  { page: '/people/:id', open: false, admin: true, get: showPerson, post: changePerson },
  { page: '/teams', open: false, admin: true, get: listTeams, post: createTeam },
  { page: '/teams/:name', open: false, admin: true, get: showTeam, post: changeTeam },
  { page: '/teams/:name/:collection', open: false, admin: true, get: showScope, post: changeScope },
  { page: '/roles', open: false, admin: true, get: listRoles, post: createRole },
  { page: '/roles/:name', open: false, admin: true, get: showRole, post: changeRole },
  { page: '/roles/:name/:collection', open: false, admin: true, get: showPermission, post: changePermission },
  { page: '/rights', open: false, admin: true, post: answerReview },
  { page: '/rights/file', open: false, admin: true, frameless: true, get: downloadRoles },
  { page: '/environments', open: false, admin: true, get: listEnvironments },
  { page: '/collections', open: false, admin: true, get: listCollections },
  { page: '/collections/:name', open: false, admin: true, get: showCollection },
];
