/* type.h - registers the data type with the server. */
#ifndef MODULE_TYPE_H
#define MODULE_TYPE_H

#include "redis_api.h"

int type_register(RedisModuleCtx *);

#endif
